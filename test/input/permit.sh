# permit.sh - what a shell does with its C library: arithmetic, formats, pipes, processes, patterns
f() { local i s=0; for ((i=0;i<300;i++)); do s=$((s+i*i%7)); done; echo $s; }
f; x=$(printf '%s\n' {z..a} | LC_ALL=C /usr/bin/sort | tr -d '\n'); echo "$x"; printf '%5.3f %x %s\n' 3.14159 255 abc; [[ abc =~ ^a.c$ ]] && echo match; echo ${PATH//:/ }; trap 'echo bye' EXIT; (exit 3); echo $?; read -r l < /etc/hostname; ulimit -n; shopt -s extglob; case foobar in foo@(bar|baz)) echo y;; esac; date -u -d @0 +%F 
