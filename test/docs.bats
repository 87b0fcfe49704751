#!/usr/bin/env bats
# docs.bats - what the documents on the patents name exists: functions, files, tests
load common

# Prints what is named and is not there.
missing() {
	"$PYTHON" - "$@" <<-'P'
	import glob, os, re, sys
	os.chdir(os.environ["REPO"])
	sources = [p for d in ("lib", "tools", "formats", "runtime") for p in glob.glob(d + "/**/*.[ch]", recursive=True)]
	defined, words = set(), set()
	for path in sources:
	    with open(path, encoding="utf-8") as f:
	        for line in f:
	            words.update(re.findall(r"\w+", line))
	            m = re.match(r"(?:static )?(?:const )?[a-z]\w*(?: \w+)*[ *]+(\w+)\([^;]*(?:\{.*)?$", line)
	            if m:
	                defined.add(m[1])
	tests = {os.path.basename(p): re.findall(r'^@test "((?:[^"\\]|\\.)*)"', open(p, encoding="utf-8").read(), re.M) for p in glob.glob("test/*.bats")}
	def say(page, what):
	    print(f"{page}: {what}")
	for page in sys.argv[1:]:
	    text = open(page, encoding="utf-8").read()
	    seen, patent = 0, os.path.basename(page) != "adding-a-machine.md"
	    for name in re.findall(r"`([^`\n]+)`", text):
	        if re.fullmatch(r"[a-z]\w*\(\)", name) or patent and re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+", name):
	            seen += 1
	            if name.rstrip("()") not in defined:
	                say(page, name + " is no function")
	        elif re.fullmatch(r"[\w/.-]+\.(c|h|bats|cddl|md)", name) and "NAME" not in name:
	            if not [p for p in sources + glob.glob("test/*") + glob.glob("formats/*") + glob.glob("docs/*") if p == name or p.endswith("/" + name)]:
	                say(page, name + " is no file")
	        elif re.fullmatch(r"[A-Z]+(_[A-Z]+)+", name) and name not in words:
	            say(page, name + " is no word of the sources")
	    for file, name in re.findall(r'`(\S+\.bats)`: "([^"]+)"', text):
	        seen += 1
	        if name not in tests.get(file, []):
	            say(page, f'{file} has no test "{name}"')
	    if "are in `test/trace-run.bats`" in " ".join(text.split()):	# named by their first words, in the last column of the first table
	        for cell in re.findall(r"\| ([^|\n]+) \|$", text.split("\n\n")[2], re.M)[1:]:
	            for part in cell.split(";"):
	                part = part.strip()
	                seen += 1
	                if part != "the same" and not any(t.startswith("trace-run: " + part) for t in tests["trace-run.bats"]):
	                    say(page, f'no test of trace-run begins with "{part}"')
	    if patent and seen < 20:
	        say(page, f"only {seen} functions and tests found on it")
	P
}

@test "the pages on the patents name functions, files and tests that exist" {
	missing "$REPO"/docs/patent-*.md >said
	cat said
	[ ! -s said ]
}

@test "a function, a file or a test that is gone is noticed" {
	cp "$REPO/docs/patent-jp2795309.md" page.md
	sed -i 's/`gen_emit()`/`gen_emitted()`/; s/`formats\/relocations.h`/`formats\/relocation.h`/; s/found, moved, mapped"/found and moved"/; s/`REWRITE_TABLE`/`REWRITE_NONE`/' page.md
	missing "$PWD/page.md" >said
	for what in "gen_emitted() is no function" "formats/relocation.h is no file" 'patent.bats has no test "prologue, reference and data word: found and moved"' \
		"REWRITE_NONE is no word"; do
		grep -qF "$what" said
	done
}

# Each step, detector and figure has a row of its own.
@test "the page on the patent has each step" {
	page=$REPO/docs/patent-jp2795309.md
	for step in S3{1,2,3,4,5} S4{4,5,6,7,8,9,a,b,c,d,e,f,g,h,i} S6{1,2,3,4,5,6,7,8,9,a,b} 41 42 43 6 7; do
		[ "$(grep -c "^| $step |" "$page")" = 1 ]
	done
}

@test "the page on machines has each member of the seam, and each machine" {
	page=$REPO/docs/adding-a-machine.md
	"$PYTHON" - "$page" >said <<-'P'
	import glob, os, re, sys
	os.chdir(os.environ["REPO"])
	page = open(sys.argv[1], encoding="utf-8").read()
	seam = re.search(r"^struct machine \{\n(.*?)^\};", open("lib/machine/machine.h", encoding="utf-8").read(), re.S | re.M)[1]
	seam = re.sub(r"/\*.*?\*/", "", seam, flags=re.S)
	members = re.findall(r"\(\*(\w+)\)\(", seam)
	for declaration in re.sub(r"\{[^}]*\}", "", seam).split(";"):
	    if "(" not in declaration and declaration.strip():
	        members += [re.search(r"(\w+)\s*$", d)[1] for d in declaration.split(",")]
	named = re.findall(r"`(\w+)`", page)
	for m in members:
	    if m not in named:
	        print(m + " is not on the page")
	# what the tables name is a member
	for row in re.findall(r"^\| (`[^|]*) \|", page, re.M):
	    for m in re.findall(r"`(\w+)`", row):
	        if m not in members:
	            print(m + " is no member")
	for folder in glob.glob("lib/machine/*/"):
	    if f"`{folder}`" not in page:
	        print(folder, "is not listed")
	assert len(members) > 55 and {"page", "jump_slot", "runtime", "callee_saved", "fork_check"} <= set(members), members
	P
	cat said
	[ ! -s said ]
	missing "$page" >said
	cat said
	[ ! -s said ]
}
