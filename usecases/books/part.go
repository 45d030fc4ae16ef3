package bookscases

import "github.com/lastmile-isp/lastmile/internal/id"

// Part is a share of an organization: the things whose id falls on At of Of shares. Books of one part need a share of
// the memory, and together the parts find what the whole books find. The zero value is the whole.
type Part struct {
	At, Of int // At is from 0 to Of-1
}

// has reports whether a thing belongs to the part. The last bytes of an id are random.
func (p Part) has(of id.Any) bool {
	if p.Of <= 1 {
		return true
	}
	return (int(of[14])<<8|int(of[15]))%p.Of == p.At
}

// hasText reports whether a text, such as a number, belongs to the part.
func (p Part) hasText(text string) bool {
	return p.Of <= 1 || p.has(id.Derive[id.Any]("part", text))
}

// first reports whether the part is the one that looks at what is not shared.
func (p Part) first() bool { return p.At == 0 }
