package paper_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/paper"
)

// square draws a picture of one colour.
func square(width, height int) *image.RGBA {
	i := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			i.Set(x, y, color.RGBA{R: 200, G: 30, B: 30, A: 255})
		}
	}
	return i
}

// asPNG writes a picture with a text that no other file must have.
func asPNG(t *testing.T, i image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, i); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestPicture_IsReadAndWrittenAgainWithinItsBounds(t *testing.T) {
	t.Parallel()
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, square(1000, 1000), nil); err != nil {
		t.Fatal(err)
	}
	tail := append(asPNG(t, square(100, 50)), "<script>alert(1)</script>"...)
	for name, c := range map[string]struct {
		file          []byte
		width, height int
	}{
		"small": {asPNG(t, square(100, 50)), 100, 50}, "wide": {asPNG(t, square(1280, 10)), 640, 5},
		"photo": {photo.Bytes(), 240, 240}, "with a tail": {tail, 100, 50},
		"a line": {asPNG(t, square(2000, 1)), 640, 1},
	} {
		p, err := paper.NewPicture(c.file)
		if err != nil || p.Width != c.width || p.Height != c.height {
			t.Errorf("%s: %d by %d, %v", name, p.Width, p.Height, err)
			continue
		}
		if bytes.Contains(p.PNG, []byte("script")) {
			t.Errorf("%s: the file keeps what is no picture", name)
		}
		again, err := paper.ReadPicture(p.PNG)
		if err != nil || again.Width != p.Width || again.Height != p.Height {
			t.Errorf("%s: read as %d by %d, %v", name, again.Width, again.Height, err)
		}
		pdf, err := press.Draw(t.Context(), about, func(s *paper.Sheet) { s.Picture(p, 160, 48) })
		if err != nil || !bytes.Contains(pdf, []byte("/Subtype /Image")) {
			t.Errorf("%s: not drawn: %v", name, err)
		}
	}
}

// bomb is a PNG of a few bytes that says it has more pixels than memory.
func bomb(t *testing.T, width, height uint32) []byte {
	t.Helper()
	file := asPNG(t, square(1, 1))
	const header = 16 // where the width stands
	binary.BigEndian.PutUint32(file[header:], width)
	binary.BigEndian.PutUint32(file[header+4:], height)
	binary.BigEndian.PutUint32(file[header+13:], crc32.ChecksumIEEE(file[12:header+13]))
	return file
}

func TestPicture_RefusesWhatIsNoneOrTooLarge(t *testing.T) {
	t.Parallel()
	half := asPNG(t, square(100, 100))
	for name, file := range map[string][]byte{
		"nothing": nil, "text": []byte("hello"), "svg": []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`),
		"gif": []byte("GIF89a\x01\x00\x01\x00"), "half": half[:len(half)/2],
		"jpeg of nothing": []byte("\xff\xd8\xff\xe0"),
		"bomb":            bomb(t, 60_000, 60_000), "long bomb": bomb(t, 2_000_000_000, 3), "no pixels": bomb(t, 0, 10),
	} {
		if _, err := paper.NewPicture(file); failure.CodeOf(err) != "invalid_input" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
