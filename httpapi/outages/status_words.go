package outagesapi

import (
	"slices"

	"golang.org/x/text/language"

	"github.com/lastmile-isp/lastmile/httpapi"
)

// statusWords has all words of the status page in one language.
type statusWords struct {
	Lang, Name                   string // the tag, and how its own speakers call the language
	Title, Some, None            string
	Outage, Since, Expected      string // Outage stands where nobody wrote a title
	Past, NoPast, Zone           string
	Hidden, Later, Sorry, Format string
}

// statusEnglish is shown to everybody who does not prefer another language of the page.
var statusEnglish = &statusWords{
	Lang: "en", Name: "English", Title: "Network status", Some: "Some customers have no internet at the moment.",
	None: "No outage is known at the moment.", Outage: "Outage", Since: "Since", Expected: "expected until",
	Past: "The last 14 days", NoPast: "There was no outage.", Zone: "Times are those of",
	Hidden: "This provider does not show its outages here.",
	Later:  "This page was asked for too often. Please wait a minute.",
	Sorry:  "The status cannot be read at the moment. Please try again in a few minutes.", Format: "2 Jan 2006 15:04",
}

// statusSwahili says the same.
var statusSwahili = &statusWords{
	Lang: "sw", Name: "Kiswahili", Title: "Hali ya mtandao", Some: "Baadhi ya wateja hawana intaneti kwa sasa.",
	None: "Hakuna hitilafu inayojulikana kwa sasa.", Outage: "Hitilafu ya mtandao", Since: "Tangu",
	Expected: "inatarajiwa kuisha", Past: "Siku 14 zilizopita", NoPast: "Hakukuwa na hitilafu.",
	Zone:   "Saa ni za",
	Hidden: "Mtoa huduma huyu haonyeshi hitilafu zake hapa.",
	Later:  "Ukurasa huu umeombwa mara nyingi mno. Tafadhali subiri dakika moja.",
	Sorry:  "Kwa sasa hali haiwezi kusomwa. Tafadhali jaribu tena baada ya dakika chache.", Format: "02/01/2006 15:04",
}

// statusLanguages are those of the page, in the order of statusMatcher.
var statusLanguages = []*statusWords{statusEnglish, statusSwahili}

// statusMatcher finds the language that a browser prefers: the first one when it wants neither.
var statusMatcher = language.NewMatcher([]language.Tag{language.English, language.Swahili})

// wordsOf chooses the language: as the address says, or else as the browser prefers.
func wordsOf(c *httpapi.Call) *statusWords {
	chosen := c.Request.URL.Query().Get("lang")
	for _, w := range statusLanguages {
		if w.Lang == chosen {
			return w
		}
	}
	_, index := language.MatchStrings(statusMatcher, c.Request.Header.Values("Accept-Language")...)
	return statusLanguages[index]
}

// others are the languages that the page links to.
func (w *statusWords) others() []*statusWords {
	return slices.DeleteFunc(slices.Clone(statusLanguages), func(o *statusWords) bool { return o == w })
}
