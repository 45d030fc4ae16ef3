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

// made are the pages of a folder.
func made(t *testing.T, files fstest.MapFS) Pages {
	t.Helper()
	p, err := of(files)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pages are small ones, with a script that exists in every form.
func pages(t *testing.T) Pages {
	t.Helper()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return made(t, fstest.MapFS{
		"index.html":                file(`<meta name="csp-nonce" content="__NONCE__">`),
		"assets/index-abc123.js":    file("plain"),
		"assets/index-abc123.js.br": file("brotli"),
		"assets/index-abc123.js.gz": file("gzip"),
		"icon.svg":                  file("<svg/>"),

		"portal/index.html":       file(`<title>portal</title>`),
		"portal/assets/main-x.js": file("portal script"),
		"portal/worker.js":        file("worker"),
		"portal/manifest.json":    file(`{"name": "__NAME__", "short_name": "__NAME__"}`),
	})
}

func TestPages_EveryAddressThatIsNoFileIsThePage(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, pages(t).Routes())
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
	for _, path := range []string{"/app", "/portal"} {
		if a := k.Do(t, apitest.Request{Path: path}); a.Status != 302 || a.Header.Get("Location") != path+"/" {
			t.Errorf("%s: %d to %q", path, a.Status, a.Header.Get("Location"))
		}
	}
}

func TestPages_ThePortalIsOnePageForEverybody(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, pages(t).Routes())
	for _, path := range []string{"/portal/", "/portal/pay?account=4711", "/portal/index.html"} {
		a := k.Do(t, apitest.Request{Path: path})
		policy := a.Header.Get("Content-Security-Policy")
		if a.Status != 200 || string(a.Body) != "<title>portal</title>" || strings.Contains(policy, "unsafe") ||
			strings.Contains(policy, "data:") || !strings.HasSuffix(policy, "frame-ancestors 'none'") ||
			!strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self';") ||
			!strings.Contains(policy, "worker-src 'self'; ") || a.Header.Get("Cache-Control") != "no-store" ||
			a.Header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s: %d, %s, %s", path, a.Status, a.Header, a.Body)
		}
	}
}

func TestPages_AnInstalledPortalHasTheNameOfTheOrganization(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, pages(t).Routes())
	for host, name := range map[string]string{apitest.Acme: "The acme", apitest.Domain: "Lastmile"} {
		a := k.Do(t, apitest.Request{Path: "/portal.json", Host: host})
		want := `{"name": "` + name + `", "short_name": "` + name + `"}`
		if a.Status != 200 || string(a.Body) != want || a.Header.Get("Content-Type") != "application/manifest+json" {
			t.Errorf("%s: %d %s", host, a.Status, a.Body)
		}
	}
	without := apitest.New(t, nil, made(t, fstest.MapFS{}).Routes())
	if a := without.Do(t, apitest.Request{Path: "/portal.json"}); a.Status != 404 {
		t.Errorf("without pages: %d %s", a.Status, a.Body)
	}
}

func TestPages_TheWorkerOfThePortalIsAskedForEachTime(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, pages(t).Routes())
	for path, want := range map[string]string{
		"/portal/worker.js": "no-cache", "/portal/assets/main-x.js": "public, max-age=31536000, immutable",
	} {
		plain := map[string]string{"Accept-Encoding": "identity"}
		a := k.Do(t, apitest.Request{Path: path, Header: plain})
		if a.Status != 200 || a.Header.Get("Cache-Control") != want {
			t.Errorf("%s: %d %s", path, a.Status, a.Header.Get("Cache-Control"))
		}
		if fetches := strings.Contains(a.Header.Get("Content-Security-Policy"), "connect-src 'self'"); fetches !=
			strings.HasSuffix(path, "worker.js") {
			t.Errorf("%s: %s", path, a.Header.Get("Content-Security-Policy"))
		}
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
	k := apitest.New(t, func(c *httpapi.Config) { c.Storage = away{} }, pages(t).Routes())
	plain := map[string]string{"Accept-Encoding": "identity"}
	for path, want := range map[string]int{"/app": 302, "/app/": 200, "/app/customers": 200, script: 200,
		"/portal": 302, "/portal/": 200, "/portal/pay": 200, "/portal/worker.js": 200, "/portal/icon.svg": 404} {
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
	k := apitest.New(t, nil, pages(t).Routes())
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
	k := apitest.New(t, nil, pages(t).Routes())
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
	k := apitest.New(t, nil, made(t, fstest.MapFS{}).Routes())
	for _, path := range []string{"/app/", "/portal/"} {
		if a := k.Do(t, apitest.Request{Path: path}); a.Status != 503 || a.Code() != "pages_not_built" {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}
