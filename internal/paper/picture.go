package paper

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/draw"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/parsing"
)

// Bounds of a picture in points of its own grid. A picture of more than mostPixels, or with a longer side than
// mostSide, is not read at all, because a small file can say that it is a huge one; a larger one than a document needs
// is made smaller. Each scan of a progressive JPEG visits all points again, and real ones have about ten.
const (
	mostPixels    = 4_000_000
	mostSide      = 5_000
	mostScans     = 100
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
// else the file has is kept: where it was taken, or a program. The header is checked at once, the rest is read in a
// child process with a turn of the organization. Fails: invalid_input, input_too_large, input_too_complex,
// parsing_busy.
func NewPicture(ctx context.Context, t *parsing.Turns, org id.Organization, file []byte) (Picture, error) {
	if err := checkHeader(file); err != nil {
		return Picture{}, err
	}
	p, err := pictures.Run(ctx, t, org, len(file), file)
	if err == nil && p.PNG == nil {
		err = errPicture()
	}
	return p, err
}

// isJPEG tells the two kinds of files apart. What is neither fails as PNG.
func isJPEG(file []byte) bool { return bytes.HasPrefix(file, []byte("\xff\xd8\xff")) }

// checkHeader refuses a file whose size or scans make it expensive to read. A scan begins with ff da, which compressed
// points do not have; a place inside of other data that looks like one counts too. Fails: invalid_input.
func checkHeader(file []byte) error {
	config := png.DecodeConfig
	if isJPEG(file) {
		config = jpeg.DecodeConfig
	}
	size, err := config(bytes.NewReader(file))
	switch {
	case err != nil || size.Width < 1 || size.Height < 1:
		return errPicture()
	case size.Width > mostPixels/size.Height:
		return failure.NewInvalid("invalid_input", "image must have at most 4 million pixels")
	case max(size.Width, size.Height) > mostSide:
		return failure.NewInvalid("invalid_input", "image must not be wider or higher than 5,000 pixels")
	case isJPEG(file) && bytes.Count(file, []byte("\xff\xda")) > mostScans:
		return failure.NewInvalid("invalid_input", "image must have at most 100 scans: save it again as PNG")
	}
	return nil
}

// pictures reads files in a child process.
var pictures = parsing.InChild(parsing.Pictures, readFile)

// readFile reads a file whose header is good, and makes it smaller; the zero picture says that it cannot be read.
func readFile(file []byte) Picture {
	decode := png.Decode
	if isJPEG(file) {
		decode = jpeg.Decode
	}
	given, err := decode(bytes.NewReader(file))
	if err != nil {
		return Picture{}
	}
	width, height := fitted(given.Bounds().Dx(), given.Bounds().Dy())
	small := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.CatmullRom.Scale(small, small.Bounds(), given, given.Bounds(), draw.Src, nil)
	p, err := encoded(small)
	if err != nil {
		return Picture{}
	}
	return p
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
