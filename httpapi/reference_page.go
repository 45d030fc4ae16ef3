package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // the page, its style and its script
	"encoding/base64"
	"html/template"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The page of /docs. Style and script are in it, so that it needs no other request.
//
//go:embed reference.html
var referenceHTML string

// referenceStyle is light or dark as the browser asks.
//
//go:embed reference.css
var referenceStyle string

// referenceScript narrows the page while somebody types, and copies commands. The page works without it.
//
//go:embed reference.js
var referenceScript string

// referencePolicy allows the page its own style, script and search, and nothing else.
var referencePolicy = "default-src 'none'; style-src '" + sourceHash(referenceStyle) + "'; script-src '" +
	sourceHash(referenceScript) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// sourceHash is the hash by which a browser knows a style or a script.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// referencePage has the values of the page.
type referencePage struct {
	Style  template.CSS
	Script template.JS
	Kind   string
	Search string
	Groups []referenceGroup // nil = the page of failure codes
	Codes  []failureCode
	Errors bool
	Count  int
}

// maxSearch bounds what somebody looks for, in bytes.
const maxSearch = 100

// search gives the operations that have all words.
func (r *reference) search(words []string) (found []referenceGroup, count int) {
	for _, group := range r.Groups {
		kept := slices.DeleteFunc(slices.Clone(group.Operations), func(op referenceOperation) bool {
			return slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(op.words, word) })
		})
		if len(kept) > 0 {
			found, count = append(found, referenceGroup{group.Name, kept}), count+len(kept)
		}
	}
	return found, count
}

// page puts the operations that have all words of a search between the top and the bottom of the page.
func (r *reference) page(kind Hosts, search string) (*madePage, error) {
	groups, count := r.search(strings.Fields(strings.ToLower(search)))
	top, err := rendered("top", newReferencePage(referencePage{
		Kind: hostsOf(kind), Search: search, Groups: groups, Count: count,
	}))
	pieces := []piece{top}
	for _, group := range groups {
		head, failed := rendered("group", group)
		err = cmp.Or(err, failed)
		pieces = append(pieces, head)
		for _, op := range group.Operations {
			pieces = append(pieces, op.text)
		}
		pieces = append(pieces, endOfGroup)
	}
	return finished(pieces, err)
}

// endOfGroup ends what the template of a group begins.
var endOfGroup = cut([]byte("</section>"))

// newErrorsPage makes the page of all failure codes.
func newErrorsPage() (*madePage, error) {
	top, err := rendered("top", newReferencePage(referencePage{
		Errors: true, Codes: failureCodes, Count: len(failureCodes),
	}))
	page, err := finished([]piece{top}, err)
	if err != nil {
		return nil, err
	}
	return page.keep(), nil
}

// newReferencePage adds style and script to the values of a page.
func newReferencePage(page referencePage) referencePage {
	page.Style = template.CSS(referenceStyle)  //nolint:gosec // our own file
	page.Script = template.JS(referenceScript) //nolint:gosec // our own file
	return page
}

// finished adds the bottom to the pieces of a page.
func finished(pieces []piece, err error) (*madePage, error) {
	bottom, failed := rendered("bottom", newReferencePage(referencePage{}))
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	return &madePage{pieces: append(pieces, bottom)}, nil
}

// rendered is a part of the page with its values.
func rendered(part string, values any) (piece, error) {
	var text bytes.Buffer
	err := referenceTemplate.ExecuteTemplate(&text, part, values)
	return cut(text.Bytes()), err
}

// sendDocs answers with the reference of this kind of host. Of a search only the top is made anew, which has what was
// looked for: whoever asks, and however often, nothing else is.
func (s *Server) sendDocs(_ context.Context, c *Call) error {
	search := strings.ToValidUTF8(c.Request.URL.Query().Get("q"), "")
	if len(search) > maxSearch {
		search = ""
	}
	docs, err := s.reference[c.hostKind]()
	if err != nil || c.keptReference(docs.whole, search) {
		return err
	}
	if search == "" {
		c.sendReference(docs.whole)
		return nil
	}
	found, err := docs.page(c.hostKind, search)
	if err != nil {
		return err
	}
	c.sendPlain(found)
	return nil
}

// sendErrors answers with all failure codes and their texts.
func (s *Server) sendErrors(_ context.Context, c *Call) error {
	page, err := s.errorsPage()
	if err == nil && !c.keptReference(page, "") {
		c.sendReference(page)
	}
	return err
}

// keptReference sets the headers of a page, and reports whether they are the whole answer: to HEAD, and with 304 to a
// browser that has the page. Its tag comes from what the page is made of, so that neither costs the making of it.
func (c *Call) keptReference(page *madePage, search string) bool {
	tag := page.tag(c.origin(), search)
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", referencePolicy)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", tag)
	h.Set("Content-Type", contentHTML)
	switch {
	case slices.Contains(strings.Split(strings.ReplaceAll(c.Request.Header.Get("If-None-Match"), " ", ""), ","), tag):
		h.Del("Content-Type")
		c.Writer.WriteHeader(http.StatusNotModified)
	case c.Request.Method == http.MethodHead:
		c.Writer.WriteHeader(http.StatusOK)
	default:
		return false
	}
	return true
}

// sendReference answers with a page that is kept, compressed where there is a compressed one.
func (c *Call) sendReference(page *madePage) {
	if strings.Contains(c.Request.Header.Get("Accept-Encoding"), "gzip") {
		if small := page.compressed(c.origin(), c.server.cfg.Clock.Now()); small != nil {
			c.Writer.Header().Set("Content-Encoding", "gzip")
			c.SendBytes(http.StatusOK, contentHTML, small)
			return
		}
	}
	c.sendPlain(page)
}

// sendPlain answers with a page piece by piece.
func (c *Call) sendPlain(page *madePage) {
	origin := c.origin()
	c.Writer.Header().Set("Content-Length", strconv.Itoa(page.length(origin)))
	c.Writer.WriteHeader(http.StatusOK)
	_ = page.write(c.Writer, origin) // it fails only when the client has gone
}

// contentHTML is the type of pages for people.
const contentHTML = "text/html; charset=utf-8"

// origin is the address of this host for commands on the page. The name is one of ours; a port that is no number is
// left out.
func (c *Call) origin() string {
	scheme, host := "http://", c.host
	if c.Production() {
		scheme = "https://"
	}
	if _, port, err := net.SplitHostPort(c.Request.Host); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			host = net.JoinHostPort(host, strconv.FormatUint(n, 10))
		}
	}
	return scheme + host
}
