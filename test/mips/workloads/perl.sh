# perl-base's perl, and a C host over libperl: closures, regular expressions, sorting, modules with XS, die and eval
where=debian
programs="$ROOT/usr/bin/perl $INPUT/perlhost"

prepare() {
	host perlhost.c perlhost "$(library libperl.so.5.36)" -Wl,--unresolved-symbols=ignore-in-shared-libs
	words 300 23 >words
	cat >script.pl <<-'P'
	use strict; use warnings; use List::Util qw(sum reduce); use POSIX qw(floor strftime);
	my (%n, @lines);
	while (<>) { push @lines, $_; $n{$_}++ for split }
	my @top = sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n;
	print "$_ $n{$_}\n" for @top[0 .. 9];
	my @adders = map { my $k = $_; sub { $k += shift } } 1 .. 5;
	print join(",", map { $_->(10) } @adders), " ", sum(map { $_->(1) } @adders), "\n";
	my $text = join "", @lines; my $swaps = ($text =~ s/(\w)(\w)\b/$2$1/g); print "$swaps ", unpack("%32C*", $text), "\n";
	print "$1-$2\n" while "k1=v1;k2=v2" =~ /(?<key>\w+)=(\w+)/g;
	eval { die { code => 42 } }; print "died with $@->{code}\n";
	printf "%.3f %s %s %d\n", atan2(1, 1) * 4, strftime("%F", gmtime 0), scalar reverse("abc"), floor(-2.5);
	open my $f, "<", "missing" or print "open: $!\n";
	print pack("w/a", "abc"), sprintf("%vd", "1.22.333"), lc("\x{c9}"), "\n";
	die "at the end\n";
	P
}

workload() {
	export PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 LC_ALL=C
	export PERL5LIB=$ROOT/usr/lib/mipsel-linux-gnu/perl-base:$ROOT/usr/lib/mipsel-linux-gnu/perl/5.36:$ROOT/usr/share/perl/5.36
	status perl "$INPUT/script.pl" "$INPUT/words"
	status perlhost "$INPUT/script.pl" "$INPUT/words"
	status perlhost -e 'print ((('
	status perl -we 'my @a = map { $_ ** 2 } 1..1000; print "@a[10..20]\n"; exit 5'
}
