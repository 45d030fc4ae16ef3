package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed" // the page, its style and its script
	"encoding/base64"
	"encoding/hex"
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

// sendDocs answers with the reference of this kind of host.
func (s *Server) sendDocs(_ context.Context, c *Call) error {
	search := strings.ToValidUTF8(c.Request.URL.Query().Get("q"), "")
	if len(search) > maxSearch {
		search = ""
	}
	groups, count := s.reference[c.hostKind].search(strings.Fields(strings.ToLower(search)))
	return s.sendReference(c, referencePage{Search: search, Groups: groups, Count: count})
}

// sendErrors answers with all failure codes and their texts.
func (s *Server) sendErrors(_ context.Context, c *Call) error {
	return s.sendReference(c, referencePage{Errors: true, Codes: failureCodes, Count: len(failureCodes)})
}

// sendReference answers with the page, or with 304 to a browser that has it.
func (s *Server) sendReference(c *Call, page referencePage) error {
	page.Style = template.CSS(referenceStyle)  //nolint:gosec // our own file
	page.Script = template.JS(referenceScript) //nolint:gosec // our own file
	page.Kind = hostsOf(c.hostKind)
	var text bytes.Buffer
	if err := referenceTemplate.Execute(&text, page); err != nil {
		return err
	}
	body := bytes.ReplaceAll(text.Bytes(), []byte(originMark), []byte(template.HTMLEscapeString(s.origin(c))))
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", referencePolicy)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", tag)
	if slices.Contains(strings.Split(strings.ReplaceAll(c.Request.Header.Get("If-None-Match"), " ", ""), ","), tag) {
		c.Writer.WriteHeader(http.StatusNotModified)
		return nil
	}
	if strings.Contains(c.Request.Header.Get("Accept-Encoding"), "gzip") {
		var small bytes.Buffer
		to := gzip.NewWriter(&small)
		_, _ = to.Write(body) // into memory
		_ = to.Close()
		h.Set("Content-Encoding", "gzip")
		body = small.Bytes()
	}
	c.SendBytes(http.StatusOK, contentHTML, body)
	return nil
}

// contentHTML is the type of pages for people.
const contentHTML = "text/html; charset=utf-8"

// origin is the address of this host for commands on the page. The name is one of ours; a port that is no number is
// left out.
func (s *Server) origin(c *Call) string {
	scheme, host := "http://", c.host
	if s.cfg.Production {
		scheme = "https://"
	}
	if _, port, err := net.SplitHostPort(c.Request.Host); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			host = net.JoinHostPort(host, strconv.FormatUint(n, 10))
		}
	}
	return scheme + host
}
