// Package web serves the dashboard: a page with scripts that `make build` makes from src/, embedded in the program.
// Programs that were built without it say so at its address; everything else works.
package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// built has what `make build` has made: the page, and under assets/ scripts and styles whose names have the hash of
// their content, beside each of them the same compressed. Without a build it has the file README alone.
//
//go:embed all:dist
var built embed.FS

// Pages serves the dashboard at /app/.
type Pages struct {
	files fs.FS
	page  []byte // nil = not built
}

// New finds the pages that are embedded in this program.
func New() (Pages, error) {
	files, err := fs.Sub(built, "dist")
	if err != nil {
		return Pages{}, fmt.Errorf("web pages: %w", err)
	}
	return of(files), nil
}

// of serves the pages of a folder.
func of(files fs.FS) Pages {
	page, err := fs.ReadFile(files, "index.html")
	if err != nil {
		page = nil
	}
	return Pages{files: files, page: page}
}

// Built reports whether the pages are in the program.
func (p Pages) Built() bool { return p.page != nil }

// Routes lists the addresses of the pages. They exist on every host, because the page itself tells in plain words that
// an organization is suspended or that there is none.
func (p Pages) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/app", Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic,
			Summary: "The way to the dashboard", Produces: contentPage, Status: http.StatusFound,
			InMemory: true, Handle: p.toApp,
		},
		{
			Method: http.MethodGet, Path: "/app/*file", Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic,
			Summary: "The dashboard, and the files it consists of", Produces: contentPage,
			InMemory: true, Handle: p.serve,
		},
	}
}

// contentPage is the type of the page.
const contentPage = "text/html; charset=utf-8"

// toApp leads to the page's own address, below which its files are.
func (p Pages) toApp(_ context.Context, c *httpapi.Call) error {
	c.Writer.Header().Set("Location", "/app/")
	c.Writer.WriteHeader(http.StatusFound)
	return nil
}

// serve answers with a file, or with the page at every address that is not a file's: the page itself knows which of
// them it has. Fails: not_found, pages_not_built.
func (p Pages) serve(_ context.Context, c *httpapi.Call) error {
	if !p.Built() {
		return failure.NewUnavailable("pages_not_built",
			"This program was built without its web pages. Please build it by make build.", 0, nil)
	}
	name := strings.TrimPrefix(path.Clean("/"+c.Param("file")), "/")
	switch {
	case name == "" || path.Ext(name) == "" || name == "index.html":
		return p.sendPage(c)
	case !fs.ValidPath(name) || path.Ext(name) == ".gz" || path.Ext(name) == ".br":
		return errNoFile()
	}
	return p.sendFile(c, name)
}

// errNoFile answers for a file that the pages do not have, such as one of an older version.
func errNoFile() error {
	return failure.NewNotFound("not_found", "There is nothing at this address.")
}

// placeholder stands in the page where each answer has a nonce of its own.
var placeholder = []byte("__NONCE__")

// sendPage answers with the page. The component library adds styles while it runs; the nonce allows those, and nothing
// that somebody has smuggled in.
func (p Pages) sendPage(c *httpapi.Call) error {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // it never fails
	nonce := base64.RawURLEncoding.EncodeToString(random)
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"+nonce+
		"'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; "+
		"base-uri 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "same-origin")
	c.SendBytes(http.StatusOK, contentPage, bytes.ReplaceAll(p.page, placeholder, []byte(nonce)))
	return nil
}

// encodings are the compressed forms of a file, the smallest first: the end of the name, and the name of the form in
// HTTP.
var encodings = []struct{ ext, name string }{{".br", "br"}, {".gz", "gzip"}}

// sendFile answers with a file in the smallest form that the browser takes. Files under assets/ have the hash of their
// content in their names and never change.
func (p Pages) sendFile(c *httpapi.Call, name string) error {
	kind := mime.TypeByExtension(path.Ext(name))
	if kind == "" {
		return errNoFile()
	}
	h := c.Writer.Header()
	accepted := c.Request.Header.Get("Accept-Encoding")
	for _, form := range encodings {
		if !takes(accepted, form.name) {
			continue
		}
		if body, err := fs.ReadFile(p.files, name+form.ext); err == nil {
			h.Set("Content-Encoding", form.name)
			p.send(c, name, kind, body)
			return nil
		}
	}
	body, err := fs.ReadFile(p.files, name)
	if err != nil {
		return errNoFile()
	}
	p.send(c, name, kind, body)
	return nil
}

// send answers with a file and says how long a browser may keep it.
func (p Pages) send(c *httpapi.Call, name, kind string, body []byte) {
	h := c.Writer.Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "public, max-age=3600")
	if strings.HasPrefix(name, "assets/") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	c.SendBytes(http.StatusOK, kind, body)
}

// takes reports whether a header Accept-Encoding allows a form.
func takes(accepted, form string) bool {
	for part := range strings.SplitSeq(accepted, ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) == form {
			return strings.ReplaceAll(quality, " ", "") != "q=0"
		}
	}
	return false
}
