package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

func TestStarting_ABrowserGetsAPageThatOpensByItself(t *testing.T) {
	t.Parallel()
	answer := func(method, accept string) (*httptest.ResponseRecorder, bool) {
		r := httptest.NewRequest(method, "/pay", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		return w, httpapi.SendStarting(w, r)
	}
	w, sent := answer(http.MethodGet, "text/html,application/xhtml+xml,*/*;q=0.8")
	text, policy := w.Body.String(), w.Header().Get("Content-Security-Policy")
	switch {
	case !sent || w.Code != 503 || w.Header().Get("Retry-After") == "" || w.Header().Get("Cache-Control") != "no-store":
		t.Errorf("sent %v: %d %v", sent, w.Code, w.Header())
	case !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html"):
		t.Errorf("it is %s", w.Header().Get("Content-Type"))
	case !strings.Contains(text, `<meta http-equiv="refresh" content="3">`) || strings.Contains(text, "<script"):
		t.Errorf("it does not ask again, or needs a script: %s", text)
	case !strings.Contains(text, "Lastmile is starting") || !strings.Contains(text, `lang="sw"`):
		t.Errorf("its words: %s", text)
	case !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-"):
		t.Errorf("policy %q", policy)
	}
	for _, other := range [][2]string{{http.MethodGet, "*/*"}, {http.MethodPost, "text/html"}} {
		if w, sent := answer(other[0], other[1]); sent || w.Body.Len() > 0 {
			t.Errorf("%v: %s", other, w.Body)
		}
	}
}

func TestHosts_ABrowserIsToldThatNothingIsOpenThere(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	for host, want := range map[string]struct {
		status int
		code   string
		words  string
	}{
		apitest.Unknown: {404, "not_found", "No organization has this address"},
		"203.0.113.9":   {404, "not_found", "No organization has this address"},
		apitest.Gone:    {403, "organization_suspended", "This organization is suspended"},
	} {
		browser := k.Do(t, apitest.Request{Path: "/", Host: host, Header: map[string]string{
			"Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
		}})
		text, policy := string(browser.Body), browser.Header.Get("Content-Security-Policy")
		switch {
		case browser.Status != want.status || !strings.HasPrefix(browser.Header.Get("Content-Type"), "text/html"):
			t.Errorf("%s: a browser: %d %s", host, browser.Status, browser.Header.Get("Content-Type"))
		case !strings.Contains(text, want.words) || !strings.Contains(text, `lang="sw"`):
			t.Errorf("%s: a browser reads %s", host, text)
		case strings.Contains(text, "<script") || strings.Contains(text, host):
			t.Errorf("%s: a script, or the name that somebody has put in a link: %s", host, text)
		case !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-"):
			t.Errorf("%s: policy %q", host, policy)
		}
		program := k.Do(t, apitest.Request{Path: "/", Host: host, Header: map[string]string{"Accept": "*/*"}})
		if program.Status != want.status || !strings.Contains(string(program.Body), `"code":"`+want.code+`"`) {
			t.Errorf("%s: a program: %d %s", host, program.Status, program.Body)
		}
		for _, got := range []apitest.Answer{browser, program} {
			if !strings.Contains(strings.Join(got.Header.Values("Vary"), ","), "Accept") {
				t.Errorf("%s: a cache may mix the page and the data: %v", host, got.Header.Values("Vary"))
			}
		}
	}
}
