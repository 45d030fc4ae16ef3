package paper

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/draw"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Bounds of a picture in points of its own grid. A picture of more than mostPixels is not read at all, because a small
// file can say that it is a huge one; a larger one than a document needs is made smaller.
const (
	mostPixels    = 4_000_000
	pictureWidth  = 640
	pictureHeight = 240
)

// Picture is a picture that was read and written again by this package.
type Picture struct {
	PNG           []byte
	Width, Height int
}

// errPicture refuses bytes that are no picture.
func errPicture() error {
	return failure.NewInvalid("invalid_input", "image must be a PNG or JPEG file")
}

// NewPicture reads a PNG or JPEG file, makes it small enough for a document, and writes it as PNG. So nothing of what
// else the file has is kept: where it was taken, or a program. Fails: invalid_input.
func NewPicture(file []byte) (Picture, error) {
	config, decode := png.DecodeConfig, png.Decode
	if bytes.HasPrefix(file, []byte("\xff\xd8\xff")) {
		config, decode = jpeg.DecodeConfig, jpeg.Decode
	}
	size, err := config(bytes.NewReader(file))
	if err != nil || size.Width < 1 || size.Height < 1 {
		return Picture{}, errPicture()
	}
	if size.Width > mostPixels/size.Height {
		return Picture{}, failure.NewInvalid("invalid_input", "image must have at most 4 million pixels")
	}
	given, err := decode(bytes.NewReader(file))
	if err != nil {
		return Picture{}, errPicture()
	}
	width, height := fitted(size.Width, size.Height)
	small := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.CatmullRom.Scale(small, small.Bounds(), given, given.Bounds(), draw.Src, nil)
	return encoded(small)
}

// fitted makes a size smaller, in the same proportion, until it is within the bounds.
func fitted(width, height int) (int, int) {
	if width > pictureWidth {
		width, height = pictureWidth, max(1, height*pictureWidth/width)
	}
	if height > pictureHeight {
		width, height = max(1, width*pictureHeight/height), pictureHeight
	}
	return width, height
}

// encoded writes a picture as PNG.
func encoded(i *image.NRGBA) (Picture, error) {
	var out bytes.Buffer
	if err := png.Encode(&out, i); err != nil {
		return Picture{}, fmt.Errorf("write picture: %w", err)
	}
	return Picture{PNG: out.Bytes(), Width: i.Rect.Dx(), Height: i.Rect.Dy()}, nil
}

// ReadPicture reads a picture that NewPicture wrote.
func ReadPicture(file []byte) (Picture, error) {
	size, err := png.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return Picture{}, fmt.Errorf("read picture: %w", err)
	}
	return Picture{PNG: file, Width: size.Width, Height: size.Height}, nil
}

// Picture puts a picture of NewPicture at the left, at most so wide and so high, in points.
func (s *Sheet) Picture(p Picture, width, height float64) {
	scale := min(width/float64(p.Width), height/float64(p.Height))
	width, height = float64(p.Width)*scale, float64(p.Height)*scale
	s.room(height)
	const name = "picture" // a document has one
	options := fpdf.ImageOptions{ImageType: "PNG"}
	s.pdf.RegisterImageOptionsReader(name, options, bytes.NewReader(p.PNG))
	s.pdf.ImageOptions(name, margin, s.y, width, height, false, options, 0, "")
	s.y += height
}
