/* qthost FILE.png - paints into a picture, without a display (QT_QPA_PLATFORM=offscreen). */
#include <QtCore/QJsonDocument>
#include <QtCore/QJsonObject>
#include <QtCore/QRegularExpression>
#include <QtCore/QTextStream>
#include <QtGui/QGuiApplication>
#include <QtGui/QImage>
#include <QtGui/QPainter>
#include <QtGui/QPainterPath>
#include <QtGui/QTextDocument>

int main(int argc, char **argv)
{
	QGuiApplication app(argc, argv);
	QImage image(320, 240, QImage::Format_ARGB32);
	QTextStream out(stdout);

	image.fill(Qt::white);
	{
		QPainter p(&image);
		p.setRenderHint(QPainter::Antialiasing);
		QLinearGradient gradient(0, 0, 320, 240);
		gradient.setColorAt(0, Qt::red);
		gradient.setColorAt(1, Qt::blue);
		p.fillRect(20, 20, 280, 100, gradient);
		QPainterPath path;
		for (int i = 0; i < 40; i++)
			path.cubicTo(i * 8, i % 7 * 30, 160, 200 - i, (i * 53) % 320, (i * 31) % 240);
		p.setPen(QPen(Qt::darkGreen, 1.5));
		p.drawPath(path);
		p.rotate(10);
		p.setFont(QFont("DejaVu Sans", 18));
		p.drawText(60, 150, QString::fromUtf8("Gr\xc3\xbc\xc3\x9f" "e, soprof"));
		QTextDocument document;
		document.setHtml("<h2>Title</h2><p>Some <b>bold</b> and <i>slanted</i> text</p><ul><li>one<li>two</ul>");
		document.drawContents(&p);
	}
	image = image.scaled(200, 150, Qt::IgnoreAspectRatio, Qt::SmoothTransformation).mirrored(true, false);
	QJsonObject json{{"width", image.width()}, {"pixel", QString::number(image.pixel(100, 70), 16)}};
	out << QJsonDocument(json).toJson(QJsonDocument::Compact) << "\n";
	out << QString("a1b22c333").replace(QRegularExpression("([a-z])(\\d+)"), "\\2\\1") << "\n";
	try {
		throw std::runtime_error("thrown through main");
	} catch (const std::exception &e) {
		out << e.what() << "\n";
	}
	return image.save(argv[1]) ? 0 : 1;
}
