package httpapi

import (
	"bytes"
	_ "embed" // the page and its style
	"html/template"
	"net/http"
	"strconv"
	"strings"
)

// The page that tells a person why nothing is open behind a host name. It has no script.
//
//go:embed closed.html
var closedHTML string

// closedStyle is light or dark as the browser asks. It stands in the page, which asks for nothing else.
//
//go:embed closed.css
var closedStyle string

// closedTemplate has been read at the start, so that a mistake in it stops the program then.
var closedTemplate = template.Must(template.New("closed").Parse(closedHTML))

// closedPolicy allows the page its own style, and nothing else.
var closedPolicy = "default-src 'none'; style-src '" + sourceHash(closedStyle) +
	"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// closedText has the words of a page in one language.
type closedText struct{ Title, Hint string }

// closedPage says why nothing is open, for ever or for now, in English and below it in Kiswahili. nil = the host is
// open.
type closedPage struct {
	closedText
	Kiswahili closedText
}

// unknownHost is told where no organization has the name. It does not repeat the name, which anybody can put in a link.
var unknownHost = &closedPage{
	closedText{"No organization has this address", "Please check the address in your browser: it begins with the " +
		"short name of the internet provider. Your provider, or whoever gave you the address, knows the right one."},
	closedText{"Hakuna shirika lenye anwani hii", "Tafadhali kagua anwani kwenye kivinjari chako: huanza na jina " +
		"fupi la mtoa huduma wa intaneti. Mtoa huduma wako, au aliyekupa anwani hii, anajua iliyo sahihi."},
}

// suspendedHost is told to the customers and to the staff of an organization that the platform has suspended.
var suspendedHost = &closedPage{
	closedText{"This organization is suspended", "Nobody can use its pages for now; nothing is lost. Customers: " +
		"please ask your internet provider. Staff: the operator of the platform knows why, and when it opens again."},
	closedText{"Shirika hili limesimamishwa", "Kwa sasa hakuna anayeweza kutumia kurasa zake; hakuna kilichopotea. " +
		"Wateja: tafadhali muulize mtoa huduma wako wa intaneti. Wafanyakazi: mwendeshaji wa jukwaa anajua sababu, " +
		"na lini litafunguliwa tena."},
}

// startingPage is told while the program starts, which takes seconds, or as long as its database is away.
var startingPage = &closedPage{
	closedText{"Lastmile is starting…", "Please wait a moment. This page opens by itself as soon as the service " +
		"is ready; nothing is lost."},
	closedText{"Lastmile inaanza…", "Tafadhali subiri kidogo. Ukurasa huu utafunguka wenyewe huduma ikiwa tayari; " +
		"hakuna kilichopotea."},
}

// startingReload is after how long a browser asks again, in seconds.
const startingReload = 3

// wantsPage reports whether a browser asks for a page, and not a program for data.
func (c *Call) wantsPage() bool { return wantsPage(c.Request) }

// wantsPage is the same before a server has the request.
func wantsPage(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	return reads && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// text is the page as HTML. reload is after how many seconds a browser asks again; 0 = it does not.
func (p *closedPage) text(reload int) ([]byte, error) {
	var text bytes.Buffer
	err := closedTemplate.Execute(&text, struct {
		closedPage
		Style  template.CSS
		Reload int
	}{*p, template.CSS(closedStyle), reload}) //nolint:gosec // our own file
	return text.Bytes(), err
}

// SendStarting answers a browser that asks for a page while the program starts, and reports whether it did. The page
// asks again by itself, without a script.
func SendStarting(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Add("Vary", "Accept")
	if !wantsPage(r) {
		return false
	}
	text, err := startingPage.text(startingReload)
	if err != nil {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", contentHTML)
	h.Set("Content-Security-Policy", closedPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Retry-After", strconv.Itoa(startingReload))
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(text) // it fails only when the client has gone
	return true
}

// sendClosed answers a browser with the page of a host behind which nothing is open, and reports whether it did.
func (c *Call) sendClosed(status int) bool {
	if c.closed == nil || status >= http.StatusInternalServerError {
		return false
	}
	c.Writer.Header().Add("Vary", "Accept")
	if !c.wantsPage() {
		return false
	}
	text, err := c.closed.text(0)
	if err != nil {
		return false
	}
	c.Writer.Header().Set("Content-Security-Policy", closedPolicy)
	c.SendBytes(status, contentHTML, text)
	return true
}
