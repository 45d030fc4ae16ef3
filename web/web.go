// Package web serves the dashboard and the customers' portal: pages with scripts that `make build` makes from src/,
// embedded in the program. Programs that were built without them say so at their addresses; everything else works.
package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// built has what `make build` has made: the dashboard, and in the folder portal the portal. Each is a page, and under
// assets/ scripts and styles whose names have the hash of their content, beside each of them the same compressed.
// Without a build it has the file README alone.
//
//go:embed all:dist
var built embed.FS

// Pages serves the dashboard at /app/ and the portal at /portal/.
type Pages struct {
	app, portal site
}

// site is a page with the files that it consists of.
type site struct {
	files fs.FS
	page  []byte // nil = not built
}

// New finds the pages that are embedded in this program.
func New() (Pages, error) {
	files, err := fs.Sub(built, "dist")
	if err != nil {
		return Pages{}, fmt.Errorf("web pages: %w", err)
	}
	return of(files)
}

// of serves the pages of a folder.
func of(files fs.FS) (Pages, error) {
	portal, err := fs.Sub(files, "portal")
	if err != nil {
		return Pages{}, fmt.Errorf("portal: %w", err)
	}
	return Pages{app: siteOf(files), portal: siteOf(portal)}, nil
}

// siteOf serves the page of one folder.
func siteOf(files fs.FS) site {
	page, err := fs.ReadFile(files, "index.html")
	if err != nil {
		page = nil
	}
	return site{files: files, page: page}
}

// Built reports whether the pages are in the program.
func (p Pages) Built() bool { return p.app.page != nil && p.portal.page != nil }

// Routes lists the addresses of the pages. They exist on every host, because a page itself tells in plain words that an
// organization is suspended or that there is none.
func (p Pages) Routes() []httpapi.Route {
	return []httpapi.Route{
		way("/app", "The way to the dashboard"),
		{
			Method: http.MethodGet, Path: "/app/*file", Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic,
			Summary: "The dashboard, and the files it consists of", Produces: contentPage,
			InMemory: true, Handle: p.app.serve(sendDashboard),
		},
		way("/portal", "The way to the customers' portal"),
		{
			Method: http.MethodGet, Path: "/portal/*file", Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic,
			Summary: "The customers' portal, and the files it consists of", Produces: contentPage,
			InMemory: true, Handle: p.portal.serve(sendPortal),
		},
		{ // beside the portal's files, since those are served before anybody looks whose host it is
			Method: http.MethodGet, Path: "/portal.json", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic,
			Summary: "What the portal is called where it is installed", Produces: contentManifest,
			InMemory: true, Handle: p.portal.sendManifest,
		},
	}
}

// contentPage is the type of the pages.
const contentPage = "text/html; charset=utf-8"

// way leads to a page's own address, below which its files are.
func way(from, summary string) httpapi.Route {
	return httpapi.Route{
		Method: http.MethodGet, Path: from, Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic,
		Summary: summary, Produces: contentPage, Status: http.StatusFound, InMemory: true,
		Handle: func(_ context.Context, c *httpapi.Call) error {
			c.Writer.Header().Set("Location", from+"/")
			c.Writer.WriteHeader(http.StatusFound)
			return nil
		},
	}
}

// serve answers with a file, or by send with the page at every address that is not a file's: the page itself knows
// which of them it has. Fails: not_found, pages_not_built.
func (s site) serve(send func(c *httpapi.Call, page []byte)) func(context.Context, *httpapi.Call) error {
	return func(_ context.Context, c *httpapi.Call) error {
		if s.page == nil {
			return failure.NewUnavailable("pages_not_built",
				"This program was built without its web pages. Please build it by make build.", 0, nil)
		}
		name := strings.TrimPrefix(path.Clean("/"+c.Param("file")), "/")
		switch {
		case name == "" || path.Ext(name) == "" || name == "index.html":
			c.Writer.Header().Set("Referrer-Policy", "same-origin")
			send(c, s.page)
			return nil
		case !fs.ValidPath(name) || path.Ext(name) == ".gz" || path.Ext(name) == ".br":
			return errNoFile()
		}
		return s.sendFile(c, name)
	}
}

// errNoFile answers for a file that the pages do not have, such as one of an older version.
func errNoFile() error {
	return failure.NewNotFound("not_found", "There is nothing at this address.")
}

// placeholder stands in the page where each answer has a nonce of its own.
var placeholder = []byte("__NONCE__")

// sendDashboard answers with the dashboard. The component library adds styles while it runs; the nonce allows those,
// and nothing that somebody has smuggled in.
func sendDashboard(c *httpapi.Call, page []byte) {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // it never fails
	nonce := base64.RawURLEncoding.EncodeToString(random)
	c.Writer.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"+
		nonce+"'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; "+
		"base-uri 'none'; frame-ancestors 'none'")
	c.SendBytes(http.StatusOK, contentPage, bytes.ReplaceAll(page, placeholder, []byte(nonce)))
}

// sendPortal answers with the portal, whose styles all stand in a file. It is the same for everybody, so that its
// worker may keep it on the device.
func sendPortal(c *httpapi.Call, page []byte) {
	c.Writer.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; "+
		"img-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; "+
		"base-uri 'none'; frame-ancestors 'none'")
	c.SendBytes(http.StatusOK, contentPage, page)
}

// worker is the file that decides what a device keeps of the portal, so it is asked for anew each time.
const worker = "worker.js"

// workerPolicy lets the worker fetch the portal's files, and nothing else.
const workerPolicy = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'"

// contentManifest is the type of what a device reads about the portal before it installs it.
const contentManifest = "application/manifest+json"

// ownName stands in the manifest where the organization's name comes, by which customers find the portal among what is
// installed on their phone.
var ownName = []byte(`"__NAME__"`)

// sendManifest answers with what the portal is called, and how it looks, where it is installed. Fails: not_found.
func (s site) sendManifest(_ context.Context, c *httpapi.Call) error {
	text, err := fs.ReadFile(s.files, "manifest.json")
	if err != nil {
		return errNoFile()
	}
	name, err := json.Marshal(cmp.Or(c.Org.Name, "Lastmile"))
	if err != nil {
		return fmt.Errorf("name of the portal: %w", err)
	}
	c.SendBytes(http.StatusOK, contentManifest, bytes.ReplaceAll(text, ownName, name))
	return nil
}

// encodings are the compressed forms of a file, the smallest first: the end of the name, and the name of the form in
// HTTP.
var encodings = []struct{ ext, name string }{{".br", "br"}, {".gz", "gzip"}}

// sendFile answers with a file in the smallest form that the browser takes. Files under assets/ have the hash of their
// content in their names and never change.
func (s site) sendFile(c *httpapi.Call, name string) error {
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
		if body, err := fs.ReadFile(s.files, name+form.ext); err == nil {
			h.Set("Content-Encoding", form.name)
			s.send(c, name, kind, body)
			return nil
		}
	}
	body, err := fs.ReadFile(s.files, name)
	if err != nil {
		return errNoFile()
	}
	s.send(c, name, kind, body)
	return nil
}

// send answers with a file and says how long a browser may keep it.
func (s site) send(c *httpapi.Call, name, kind string, body []byte) {
	h := c.Writer.Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "public, max-age=3600")
	switch {
	case strings.HasPrefix(name, "assets/"):
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	case name == worker:
		h.Set("Cache-Control", "no-cache")
		h.Set("Content-Security-Policy", workerPolicy)
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
