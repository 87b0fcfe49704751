# xmllint: parsing, validation, XPath, a document with faults, a foreign encoding
programs=/usr/bin/xmllint

prepare() {
	{
		echo '<?xml version="1.0"?><!DOCTYPE list [<!ELEMENT list (item+)><!ELEMENT item (#PCDATA|b)*><!ELEMENT b (#PCDATA)>'
		echo '<!ATTLIST item id ID #REQUIRED kind (x|y) "x"><!ENTITY e "an entity">]><list>'
		words 600 15 | awk '{ print "<item id=\"i" NR "\"" (NR % 3 ? "" : " kind=\"y\"") ">" $1 " <b>" $2 "</b> &e; &#xe9; " $3 "</item>" }'
		echo '</list>'
	} >list.xml
	printf '<?xml version="1.0" encoding="ISO-8859-1"?><a>\351t\351</a>' >latin.xml
	printf '<a><b>open</a>&undefined;<c d=1/>' >faults.xml
	cat >list.rng <<-'X'
	<element name="list" xmlns="http://relaxng.org/ns/structure/1.0" datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
	<oneOrMore><element name="item"><attribute name="id"><data type="ID"/></attribute><optional><attribute name="kind"/></optional>
	<mixed><zeroOrMore><element name="b"><text/></element></zeroOrMore></mixed></element></oneOrMore></element>
	X
}

workload() {
	xmllint --valid --noent --format "$INPUT/list.xml" >formatted.xml
	xmllint --c14n "$INPUT/list.xml" | cksum
	xmllint --xpath 'sum(//item[@kind="y"]/@id[starts-with(., "i3")]/string-length(.)) + count(//b)' "$INPUT/list.xml"
	xmllint --xpath 'concat(count(//item[@kind="y"]), " ", string(//item[last()]), " ", //item[contains(b, "e")][2]/@id)' "$INPUT/list.xml"
	xmllint --noout --relaxng "$INPUT/list.rng" "$INPUT/list.xml"
	xmllint --stream --noout "$INPUT/list.xml"
	xmllint --encode UTF-16LE "$INPUT/latin.xml" | od -An -tx1
	status xmllint "$INPUT/faults.xml"
	xmllint --recover --html "$INPUT/faults.xml"
	status xmllint --noout missing.xml
}
