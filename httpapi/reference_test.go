package httpapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/docs"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// operationsOf lists the ids of operations on a page.
func operationsOf(page string) map[string]bool {
	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`<details id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		out[m[1]] = true
	}
	return out
}

func TestReference_HasEveryOperationOfTheDocument(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes(), system(nil).Routes())
	for _, host := range []string{apitest.Acme, apitest.Domain} {
		var doc struct {
			Paths map[string]map[string]struct {
				OperationID string   `json:"operationId"`
				Codes       []string `json:"x-error-codes"`
				Tags        []string
			}
		}
		k.Do(t, apitest.Request{Path: "/openapi.json", Host: host}).Into(t, &doc)
		page := k.Do(t, apitest.Request{Path: "/docs", Host: host})
		shown := operationsOf(string(page.Body))
		if len(shown) == 0 || page.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Fatalf("%s: %d operations, %s", host, len(shown), page.Header.Get("Content-Type"))
		}
		for path, methods := range doc.Paths {
			for method, op := range methods {
				if !shown[op.OperationID] {
					t.Errorf("%s: %s %s is not on the page", host, method, path)
				}
				delete(shown, op.OperationID)
				for _, code := range op.Codes {
					if !strings.Contains(docs.Errors, "`"+code+"`") {
						t.Errorf("%s %s: code %s is not in docs/errors.md", method, path, code)
					}
				}
				if len(op.Codes) == 0 || len(op.Tags) != 1 || op.Tags[0] == "" {
					t.Errorf("%s %s: codes %v, tags %v", method, path, op.Codes, op.Tags)
				}
			}
		}
		if len(shown) > 0 {
			t.Errorf("%s: more on the page than in the document: %v", host, shown)
		}
	}
	if got := k.Do(t, apitest.Request{Path: "/docs", Host: "10.0.0.1"}); got.Status != 404 {
		t.Errorf("a foreign host: %d", got.Status)
	}
}

func TestReference_AsksForNothingElseAndAllowsNoScriptButItsOwn(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	for _, path := range []string{"/docs", "/docs/errors", "/docs?q=parcels"} {
		got := k.Do(t, apitest.Request{Path: path})
		page, policy := string(got.Body), got.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %s", path, policy)
		}
		for tag, directive := range map[string]string{"style": "style-src", "script": "script-src"} {
			parts := regexp.MustCompile(`(?s)<`+tag+`[^>]*>(.*?)</`+tag+`>`).FindAllStringSubmatch(page, -1)
			if len(parts) != 1 {
				t.Fatalf("%s: %d of %s", path, len(parts), tag)
			}
			sum := sha256.Sum256([]byte(parts[0][1]))
			want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy lacks %s", path, want)
			}
		}
		other := regexp.MustCompile(`(src|srcset)=|@import|url\(|<link|<img|\son[a-z]+=|style="`)
		if m := other.FindString(page); m != "" {
			t.Errorf("%s: the page has %q", path, m)
		}
	}
}

func TestReference_TextsOfRoutesAndOfVisitorsAreEscaped(t *testing.T) {
	t.Parallel()
	const evil = `<script>alert(1)</script>`
	type tide struct {
		Height int `json:"height" doc:"<script>alert(1)</script>"`
	}
	k := apitest.New(t, nil, []httpapi.Route{{
		Method: "GET", Path: "/tide", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic, Summary: evil,
		Query:    []httpapi.Param{{Name: "at", Type: "string", Doc: evil}},
		Response: tide{}, Handle: func(_ context.Context, c *httpapi.Call) error { return c.Send(200, tide{}) },
	}})
	for _, path := range []string{
		"/docs", "/docs?q=%3Cscript%3Ealert(1)%3C/script%3E", "/docs?q=tide%22%3E%3Cscript%3E",
	} {
		got := k.Do(t, apitest.Request{Path: path})
		if page := string(got.Body); strings.Contains(page, "<script>alert") || strings.Contains(page, `"><script>`) ||
			got.Status != 200 {
			t.Errorf("%s: %d, not escaped", path, got.Status)
		}
	}
	page := string(k.Do(t, apitest.Request{Path: "/docs", Header: map[string]string{"Accept": "*/*"}}).Body)
	if !strings.Contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the summary is not shown")
	}
}

// commandsOf lists the curl commands of a page as a person copies them.
func commandsOf(page string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?s)<pre class="curl"[^>]*>(.*?)</pre>`).FindAllStringSubmatch(page, -1) {
		out = append(out, strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&#43;", "+",
			"&amp;", "&").Replace(m[1]))
	}
	return out
}

func TestReference_CommandsAreWellFormed(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes(), system(nil).Routes())
	list := commandsOf(string(k.Do(t, apitest.Request{Path: "/docs", Host: apitest.Acme + ":8080"}).Body))
	if len(list) < 10 {
		t.Fatalf("%d commands", len(list))
	}
	for _, command := range list {
		if !strings.HasPrefix(command, "curl -s ") || !strings.Contains(command, `"http://`+apitest.Acme+`:8080/`) {
			t.Errorf("%s", command)
		}
		if out, err := exec.CommandContext(t.Context(), "sh", "-n", "-c", command).CombinedOutput(); err != nil {
			t.Errorf("a shell refuses it: %s\n%s", out, command)
		}
		if _, body, has := strings.Cut(command, "-d '"); has &&
			!json.Valid([]byte(strings.ReplaceAll(strings.TrimSuffix(body, "'"), `'\''`, "'"))) {
			t.Errorf("the body is no JSON: %s", command)
		}
	}
}

func TestReference_IsSearchedAndKeptByBrowsers(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	found := operationsOf(string(k.Do(t, apitest.Request{Path: "/docs?q=get+parcels"}).Body))
	if len(found) != 2 || !found["getParcels"] || !found["getParcelsId"] {
		t.Errorf("get parcels: %v", found)
	}
	if page := k.Do(t, apitest.Request{Path: "/docs?q=zebra"}); !strings.Contains(string(page.Body), "Nothing has") {
		t.Error("a search in vain does not say so")
	}
	first := k.Do(t, apitest.Request{Path: "/docs"})
	tag := first.Header.Get("ETag")
	again := k.Do(t, apitest.Request{Path: "/docs", Header: map[string]string{"If-None-Match": tag}})
	if tag == "" || again.Status != http.StatusNotModified || len(again.Body) > 0 {
		t.Errorf("again with %s: %d and %d bytes", tag, again.Status, len(again.Body))
	}
	if head := k.Do(t, apitest.Request{Method: "HEAD", Path: "/docs"}); head.Status != 200 || len(head.Body) > 0 ||
		head.Header.Get("ETag") != tag {
		t.Errorf("HEAD: %d %s", head.Status, head.Header.Get("ETag"))
	}
	small := k.Do(t, apitest.Request{Path: "/docs", Header: map[string]string{"Accept-Encoding": "gzip"}})
	if small.Header.Get("Content-Encoding") != "gzip" || len(small.Body)*2 > len(first.Body) {
		t.Errorf("gzip: %d of %d bytes", len(small.Body), len(first.Body))
	}
}

func TestReference_IsCompressedOnceForAnAddressAndAtMostOnceASecond(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	ask := func(path, port string) apitest.Answer {
		return k.Do(t, apitest.Request{
			Path: path, Host: apitest.Acme + port, Header: map[string]string{"Accept-Encoding": "gzip"},
		})
	}
	encoded := func(path, port, want string) []byte {
		t.Helper()
		got := ask(path, port)
		if got.Status != 200 || got.Header.Get("Content-Encoding") != want {
			t.Errorf("%s at %s: %d, %v, want %q", path, port, got.Status, got.Header, want)
		}
		return got.Body
	}
	encoded("/docs", ":1", "gzip")
	plain := encoded("/docs", ":2", "") // in the same moment
	if !strings.Contains(string(plain), "http://"+apitest.Acme+":2/parcels") {
		t.Error("the page has another address")
	}
	encoded("/docs", ":1", "gzip") // kept
	encoded("/docs?q=parcels", ":1", "")
	encoded("/docs/errors", ":1", "gzip") // a page of its own
	for port := 2; port < 70; port++ {
		k.Clock.Advance(time.Second)
		encoded("/docs", fmt.Sprintf(":%d", port), "gzip")
	}
	encoded("/docs", ":1", "") // the oldest is not kept any more
	encoded("/docs", ":60", "gzip")
}

func TestReference_ASearchFindsWhatThePageHas(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	whole := string(k.Do(t, apitest.Request{Path: "/docs"}).Body)
	found := k.Do(t, apitest.Request{Path: "/docs?q=depots", Host: apitest.Domain})
	if shown := operationsOf(string(found.Body)); len(shown) != 1 || !shown["getDepots"] {
		t.Errorf("found %v", shown)
	}
	one := string(k.Do(t, apitest.Request{Path: "/docs?q=getparcelsid"}).Body)
	from, to := strings.Index(one, "<details"), strings.LastIndex(one, "</details>")
	if from < 0 || to < from || !strings.Contains(whole, one[from:to]) {
		t.Errorf("a search shows something else than the page: %s", one)
	}
	tags := map[string]bool{}
	for _, path := range []string{"/docs", "/docs?q=a", "/docs?q=b", "/docs/errors"} {
		tag := k.Do(t, apitest.Request{Path: path, Method: "HEAD"}).Header.Get("ETag")
		again := k.Do(t, apitest.Request{Path: path, Header: map[string]string{"If-None-Match": `"x", ` + tag}})
		if tags[tag] || again.Status != http.StatusNotModified {
			t.Errorf("%s: tag %s, %d", path, tag, again.Status)
		}
		tags[tag] = true
	}
}

func TestReference_ListsEveryFailureCodeWithItsText(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil)
	page := string(k.Do(t, apitest.Request{Path: "/docs/errors", Host: apitest.Domain}).Body)
	rows := regexp.MustCompile("(?m)^\\| [0-9]{3} \\| `([^`]+)`").FindAllStringSubmatch(docs.Errors, -1)
	for _, row := range rows {
		if !strings.Contains(page, `<tr id="`+row[1]+`">`) || !strings.Contains(page, "<code>"+row[1]+"</code>") {
			t.Errorf("the page lacks %s", row[1])
		}
	}
	if len(rows) < 100 || !strings.Contains(page, "Too many requests. Please wait.") {
		t.Errorf("%d codes", len(rows))
	}
}

func TestIndex_LeadsABrowserToTheDashboard(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil)
	for _, host := range []string{apitest.Acme, apitest.Domain} {
		browser := k.Do(t, apitest.Request{Path: "/", Host: host, Header: map[string]string{
			"Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
		}})
		if browser.Status != http.StatusFound || browser.Header.Get("Location") != "/app/" {
			t.Errorf("%s: a browser: %d to %s", host, browser.Status, browser.Header.Get("Location"))
		}
		var index struct{ Service, App, Docs, OpenAPI, Health string }
		program := k.Do(t, apitest.Request{Path: "/", Host: host, Header: map[string]string{"Accept": "*/*"}})
		program.Into(t, &index)
		if program.Status != 200 || index.App != "/app/" || index.Docs != "/docs" || index.OpenAPI != "/openapi.json" {
			t.Errorf("%s: a program: %d %+v", host, program.Status, index)
		}
	}
}
