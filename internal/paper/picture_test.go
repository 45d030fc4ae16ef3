package paper_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"syscall"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/internal/parsing"
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
		p, err := paper.NewPicture(t.Context(), parsing.NewTurns(), id.Organization{}, c.file)
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
		_, err := paper.NewPicture(t.Context(), parsing.NewTurns(), id.Organization{}, file)
		if failure.CodeOf(err) != "invalid_input" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// progressive is a grey JPEG of a few bytes for each of its scans, which all visit each block of eight by eight points.
func progressive(width, height, scans int) []byte {
	file := []byte{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0}
	file = append(file, bytes.Repeat([]byte{1}, 64)...)
	file = append(file, 0xff, 0xc2, 0, 11, 8, byte(height>>8), byte(height), byte(width>>8), byte(width), 1, 1, 0x11, 0)
	for _, table := range [][2]byte{{0x00, 0x00}, {0x10, 0xe0}} { // code 0: no difference, and 2^14 blocks
		file = append(file, 0xff, 0xc4, 0, 20, table[0], 1)
		file = append(append(file, make([]byte, 15)...), table[1])
	}
	blocks := (width + 7) / 8 * ((height + 7) / 8)
	file = append(file, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0) // the mean of each block
	file = append(file, make([]byte, blocks/8+1)...)
	for range scans - 1 {
		file = append(file, 0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0)
		file = append(file, make([]byte, (blocks>>14+1)*2)...)
	}
	return append(file, 0xff, 0xd9)
}

// TestPicture_ASmallFileThatTakesLongToReadIsRefused by its header. One at the limits is read outside of the serving
// process, whose memory stays as it was.
func TestPicture_ASmallFileThatTakesLongToReadIsRefused(t *testing.T) {
	t.Parallel()
	turns, org := parsing.NewTurns(), id.New[id.Organization]()
	for name, file := range map[string][]byte{
		"thin": bomb(t, 1, 4_000_000), "flat": bomb(t, 4_000_000, 1), "scans": progressive(1000, 1000, 4000),
	} {
		if _, err := paper.NewPicture(t.Context(), turns, org, file); failure.CodeOf(err) != "invalid_input" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, file := range map[string][]byte{
		"high": asPNG(t, square(800, 5000)), "wide": asPNG(t, square(5000, 800)), "scans": progressive(2000, 2000, 100),
	} {
		if p, err := paper.NewPicture(t.Context(), turns, org, file); err != nil || p.Width < 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil || used.Maxrss > 300<<10 {
		t.Errorf("the serving process took %d KiB, %v", used.Maxrss, err)
	}
}

func BenchmarkNewPicture(b *testing.B) {
	turns := parsing.NewTurns()
	var logo bytes.Buffer
	if err := png.Encode(&logo, square(600, 200)); err != nil {
		b.Fatal(err)
	}
	for name, file := range map[string][]byte{"logo": logo.Bytes(), "scans": progressive(2000, 2000, 100)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := paper.NewPicture(b.Context(), turns, id.Organization{}, file); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
