package paymentsapi_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
)

// inSwahili has the request come from a browser that prefers Kiswahili.
func inSwahili(r apitest.Request) apitest.Request {
	header := map[string]string{"Accept-Language": "sw-KE,sw;q=0.9,en;q=0.8"}
	for name, value := range r.Header {
		header[name] = value
	}
	r.Header = header
	return r
}

// chosen has the request come from the page in a language.
func chosen(lang string, r apitest.Request) apitest.Request {
	r.Path += "?lang=" + url.QueryEscape(lang)
	return r
}

func TestPay_SpeaksTheLanguageOfTheBrowserOrTheChosenOne(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	for name, c := range map[string]struct {
		request apitest.Request
		lang    string
		note    string
	}{
		"no preference":        {apitest.Request{Path: "/pay"}, "en", "Pay for your internet here"},
		"the browser's":        {inSwahili(apitest.Request{Path: "/pay"}), "sw", "Lipia intaneti yako hapa"},
		"the link's":           {apitest.Request{Path: "/pay?lang=sw"}, "sw", "Lipia intaneti yako hapa"},
		"the link is stronger": {inSwahili(apitest.Request{Path: "/pay?lang=en"}), "en", "Pay for your internet"},
		"no such language":     {inSwahili(apitest.Request{Path: "/pay?lang=tlh"}), "sw", "Lipia intaneti"},
		"posted": {
			chosen("sw", form(url.Values{"account": {aminasAccount}})), "sw", "Kama kuna cha",
		},
		"posted in English": {
			inSwahili(chosen("en", form(url.Values{"account": {aminasAccount}}))), "en", "If there is something",
		},
		"posted by the README": {form(url.Values{"account": {"0700000001"}}), "en", "If there is something to pay"},
		"posted empty":         {chosen("sw", form(url.Values{})), "sw", "Tafadhali weka namba yako"},
		"posted by no form of ours": {
			inSwahili(chosen(`"><script>`, form(url.Values{"account": {aminasAccount}}))), "sw", "Kama kuna cha",
		},
	} {
		a := k.Do(t, c.request)
		text, other := string(a.Body), map[string]string{"en": "sw", "sw": "en"}[c.lang]
		for _, want := range []string{
			`<html lang="` + c.lang + `">`, c.note, `action="/pay?lang=` + c.lang + `">`,
			`<a href="/pay?lang=` + other + `" lang="` + other + `"`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s in %s", name, want, text)
			}
		}
		if vary := strings.Join(a.Header.Values("Vary"), ","); !strings.Contains(vary, "Accept-Language") {
			t.Errorf("%s: a cache may mix languages: %s", name, vary)
		}
	}
	filled := k.Do(t, apitest.Request{Path: "/pay?lang=sw&account=" + url.QueryEscape(`07 "&<`)})
	if want := `href="/pay?lang=en&amp;account=07%20%22%26%3c"`; !strings.Contains(string(filled.Body), want) {
		t.Errorf("what was filled in is lost: %s", filled.Body)
	}
}

// A customer reads in Kiswahili what all others read, and learns no more from it.
func TestPay_AnswersTheSameForEveryAccountInKiswahili(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.owes(t)
	var first string
	for _, account := range []string{aminasAccount, "99999998", aminasPhone, `"><script>alert(1)</script>`} {
		a := k.Do(t, inSwahili(chosen("sw", form(url.Values{"account": {account}}))))
		if first == "" {
			first = string(a.Body)
		}
		if a.Status != 202 || string(a.Body) != first {
			t.Errorf("%s: %d %s", account, a.Status, a.Body)
		}
	}
}

// A program that sends JSON reads one language, whatever its headers say.
func TestPay_TheAnswerToProgramsIsEnglish(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	post := apitest.Request{Method: "POST", Path: "/pay?lang=sw", Body: `{"account":"1","lang":"sw"}`}
	plain := k.Do(t, apitest.Request{Method: "POST", Path: "/pay", Body: `{"account":"1"}`})
	got := k.Do(t, inSwahili(post))
	if got.Status != 202 || string(got.Body) != string(plain.Body) ||
		strings.Contains(strings.Join(got.Header.Values("Vary"), ","), "Accept-Language") {
		t.Errorf("%d %s %v", got.Status, got.Body, got.Header)
	}
}

func TestPay_SaysInBothLanguagesThatItCannotAskNowOrYet(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{Login: 1})
	if a := k.Do(t, form(url.Values{"account": {"a1"}})); a.Status != 202 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	later := k.Do(t, chosen("sw", form(url.Values{"account": {"a1"}})))
	if later.Status != 429 || !strings.Contains(string(later.Body), "Tafadhali subiri dakika moja") {
		t.Errorf("too many: %d %s", later.Status, later.Body)
	}
	table := k.Core.DB.Namespace.Schema("river") + ".river_job"
	if _, err := k.Core.DB.Owner.Exec(t.Context(), "alter table "+table+" rename to away"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		request apitest.Request
		want    string
	}{
		"English":       {form(url.Values{"account": {"b1"}}), "is not lost"},
		"the form's":    {chosen("sw", form(url.Values{"account": {"b2"}})), "hayajapotea"},
		"the browser's": {inSwahili(form(url.Values{"account": {"b3"}})), "hayajapotea"},
	} {
		a := k.Do(t, c.request)
		if a.Status < 500 || !strings.Contains(string(a.Body), c.want) ||
			!strings.Contains(a.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}
