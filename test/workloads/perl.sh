# a C host that embeds libperl: closures, regular expressions, sorting, formats, a module with XS, die and eval
programs=$INPUT/perlhost

prepare() {
	host perlhost.c perlhost $(perl -MExtUtils::Embed -e ccopts) $(perl -MExtUtils::Embed -e ldopts)
	words 1500 23 >words
	cat >script.pl <<-'P'
	use strict; use warnings; use List::Util qw(sum reduce); use Data::Dumper; use POSIX qw(floor strftime);
	my (%n, @lines);
	while (<>) { push @lines, $_; $n{$_}++ for split }
	my @top = sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n;
	print "$_ $n{$_}\n" for @top[0 .. 9];
	my @adders = map { my $k = $_; sub { $k += shift } } 1 .. 5;
	print join(",", map { $_->(10) } @adders), " ", sum(map { $_->(1) } @adders), "\n";
	my $text = join "", @lines; my $swaps = ($text =~ s/(\w)(\w)\b/$2$1/g); print "$swaps ", unpack("%32C*", $text), "\n";
	print "$1-$2\n" while "k1=v1;k2=v2" =~ /(?<key>\w+)=(\w+)/g;
	$Data::Dumper::Sortkeys = 1; print Dumper({ a => [1, { b => undef }], c => \"x" });
	eval { die { code => 42 } }; print "died with $@->{code}\n";
	printf "%.3f %s %s %d\n", atan2(1, 1) * 4, strftime("%F", gmtime 0), scalar reverse("abc"), floor(-2.5);
	local $SIG{__WARN__} = sub { print "warned: @_" }; my $u; my $v = "x" . $u;
	open my $f, "<", "missing" or print "open: $!\n";
	print pack("w/a", "abc"), sprintf("%vd", "1.22.333"), lc("\x{c9}"), "\n";
	die "at the end\n";
	P
}

workload() {
	export PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0
	status perlhost "$INPUT/script.pl" "$INPUT/words"
	status perlhost -e 'print ((('
	status perlhost -we 'my @a = map { $_ ** 2 } 1..1000; print "@a[10..20]\n"; exit 5'
}
