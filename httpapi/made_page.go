package httpapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"sync"
	"time"
)

// Compressing costs a processor some hundredths of a second, and anybody may ask for a page under any port. So at most
// one page is compressed in each compressEvery, and the newest mostCompressed are kept; the others go out as they are.
const (
	mostCompressed = 64
	compressEvery  = time.Second
)

// piece is a part of a page, cut where the address of the host stands.
type piece [][]byte

// cut makes a piece of a text with originMark in the places of the address.
func cut(text []byte) piece { return bytes.Split(text, []byte(originMark)) }

// madePage is a page of pieces that were made before. Safe for concurrent use.
type madePage struct {
	pieces []piece
	hash   [sha256.Size]byte // of a page that is kept

	mu    sync.Mutex
	small map[string][]byte // compressed, by address
	made  []string          // the addresses of small, the newest last
	last  time.Time         // when the newest was compressed
}

// keep makes a page one that is kept.
func (p *madePage) keep() *madePage {
	sum := sha256.New()
	_ = p.write(sum, originMark) // a hash takes everything
	sum.Sum(p.hash[:0])
	p.small = map[string][]byte{}
	return p
}

// tag is the ETag of a kept page at an address, or of what a search finds in it.
func (p *madePage) tag(origin, search string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %q %q", p.hash, origin, search))
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// length is that of the page at an address, in bytes.
func (p *madePage) length(origin string) (n int) {
	between := len(template.HTMLEscapeString(origin))
	for _, one := range p.pieces {
		n += (len(one) - 1) * between
		for _, text := range one {
			n += len(text)
		}
	}
	return n
}

// write writes the page for an address.
func (p *madePage) write(to io.Writer, origin string) error {
	between := []byte(template.HTMLEscapeString(origin))
	for _, one := range p.pieces {
		for i, text := range one {
			if i > 0 {
				if _, err := to.Write(between); err != nil {
					return err
				}
			}
			if _, err := to.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// compressed is a kept page for an address, compressed; nil when another one was compressed a moment ago.
func (p *madePage) compressed(origin string, now time.Time) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text := p.small[origin]; text != nil {
		return text
	}
	if ago := now.Sub(p.last); ago >= 0 && ago < compressEvery { // a clock that was put back must not stop it
		return nil
	}
	var text bytes.Buffer
	to := gzip.NewWriter(&text)
	_ = p.write(to, origin) // into memory
	_ = to.Close()
	p.last = now
	if len(p.made) == mostCompressed {
		delete(p.small, p.made[0])
		p.made = p.made[1:]
	}
	p.small[origin], p.made = bytes.Clone(text.Bytes()), append(p.made, origin)
	return p.small[origin]
}
