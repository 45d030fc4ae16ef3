package web

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// script is a file of the pages as a build names it.
const script = "/app/assets/index-abc123.js"

// pages are small ones, with a script that exists in every form.
func pages() Pages {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return of(fstest.MapFS{
		"index.html":                file(`<meta name="csp-nonce" content="__NONCE__">`),
		"assets/index-abc123.js":    file("plain"),
		"assets/index-abc123.js.br": file("brotli"),
		"assets/index-abc123.js.gz": file("gzip"),
		"icon.svg":                  file("<svg/>"),
	})
}

func TestPages_EveryAddressThatIsNoFileIsThePage(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, pages().Routes())
	nonces := map[string]bool{}
	for _, path := range []string{"/app/", "/app/customers/4711?q=a&q=b", "/app/index.html"} {
		a := k.Do(t, apitest.Request{Path: path})
		policy := a.Header.Get("Content-Security-Policy")
		_, after, _ := strings.Cut(policy, "'nonce-")
		nonce, _, _ := strings.Cut(after, "'")
		if a.Status != 200 || nonce == "" || !strings.Contains(string(a.Body), `"`+nonce+`"`) || nonces[nonce] ||
			strings.Contains(policy, "unsafe") ||
			!strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") ||
			a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, %s, %s", path, a.Status, policy, a.Body)
		}
		nonces[nonce] = true
	}
	if a := k.Do(t, apitest.Request{Path: "/app"}); a.Status != 302 || a.Header.Get("Location") != "/app/" {
		t.Errorf("/app: %d to %q", a.Status, a.Header.Get("Location"))
	}
}

// away is a database that serves nothing.
type away struct{}

// Until implements httpapi.Storage.
func (away) Until(bool) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestPages_AnswerWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, func(c *httpapi.Config) { c.Storage = away{} }, pages().Routes())
	plain := map[string]string{"Accept-Encoding": "identity"}
	for path, want := range map[string]int{"/app": 302, "/app/": 200, "/app/customers": 200, script: 200} {
		for _, host := range []string{apitest.Acme, apitest.Domain, apitest.Gone} {
			a := k.Do(t, apitest.Request{Path: path, Host: host, Header: plain})
			if a.Status != want {
				t.Errorf("%s%s: %d %s", host, path, a.Status, a.Body)
			}
		}
	}
}

func TestPages_AFileComesInTheSmallestFormThatTheBrowserTakes(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, pages().Routes())
	for accepted, want := range map[string]string{
		"": "plain", "identity": "plain", "gzip": "gzip", "gzip, deflate, br, zstd": "brotli",
		"br;q=0, gzip;q=0.5": "gzip", "br; q=0": "plain",
	} {
		a := k.Do(t, apitest.Request{Path: script, Header: map[string]string{"Accept-Encoding": accepted}})
		encoding := strings.NewReplacer("plain", "", "brotli", "br").Replace(want)
		if a.Status != 200 || string(a.Body) != want || a.Header.Get("Content-Encoding") != encoding ||
			a.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
			a.Header.Get("Vary") != "Accept-Encoding" ||
			!strings.HasPrefix(a.Header.Get("Content-Type"), "text/javascript") {
			t.Errorf("Accept-Encoding %q: %d %q %v", accepted, a.Status, a.Body, a.Header)
		}
	}
}

func TestPages_WhatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, pages().Routes())
	for _, path := range []string{
		"/app/assets/index-old.js", "/app/assets/index-abc123.js.br", "/app/../web.go", "/app/%2e%2e/web.go",
		"/app/assets/..%2f..%2fgo.mod", "/app/assets/index-abc123.unknown",
	} {
		if a := k.Do(t, apitest.Request{Path: path}); a.Status != 404 {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

func TestPages_AProgramWithoutThemSaysSo(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, of(fstest.MapFS{}).Routes())
	if a := k.Do(t, apitest.Request{Path: "/app/"}); a.Status != 503 || a.Code() != "pages_not_built" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
