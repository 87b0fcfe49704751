# a Qt program without a display: paints shapes and text into a picture
programs=$INPUT/qthost
also=/usr/lib/x86_64-linux-gnu/qt5/plugins/platforms/libqoffscreen.so

prepare() {
	host qthost.cc qthost -fPIC -I/usr/include/x86_64-linux-gnu/qt5 -lQt5Gui -lQt5Core
}

workload() {
	export HOME=$PWD XDG_RUNTIME_DIR=$PWD/runtime QT_QPA_PLATFORM=offscreen QT_HASH_SEED=0 FONTCONFIG_FILE=$PWD/fonts.conf
	mkdir -m 700 runtime
	echo "<fontconfig><dir>/usr/share/fonts/truetype/dejavu</dir><cachedir>$PWD/cache</cachedir></fontconfig>" >fonts.conf
	status qthost picture.png
	cksum picture.png
	rm -rf cache runtime
}
