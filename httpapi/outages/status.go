package outagesapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/outages"
	"github.com/lastmile-isp/lastmile/usecases/outages"
)

// Status serves /status, the public page of an organization about its outages: without a sign-in, and without anything
// about customers or routers (docs/rules/outages.md#status-page).
type Status struct {
	Outages outagesviews.OutagesQuery
	Zone    func(ctx context.Context, org id.Organization) (*time.Location, error)
	Clock   clock.Clock
}

// What the page shows, and for how long others may keep it.
const (
	shownFor  = 14 * 24 * time.Hour
	shownMost = 50
	keptFor   = "public, max-age=30"
)

// Routes lists the page.
func (a Status) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: "GET", Path: "/status", Hosts: httpapi.OnOrganization, Access: httpapi.AccessPublic,
		Summary: "Public page about outages, without a sign-in", Produces: "text/html", Handle: a.show,
		Sorry: a.sorry,
		Query: []httpapi.Param{
			{Name: "lang", Type: "string", Doc: "en or sw; otherwise Accept-Language decides"},
		},
	}}
}

// statusStyle is in the page itself.
//
//go:embed status.css
var statusStyle string

// statusHTML works without scripts.
//
//go:embed status.html
var statusHTML string

// statusTemplate fills statusHTML; all values are escaped.
var statusTemplate = template.Must(template.New("status").Parse(statusHTML))

// statusPolicy allows the page its own style, and nothing else.
var statusPolicy = "default-src 'none'; style-src 'sha256-" + styleHash(statusStyle) +
	"'; base-uri 'none'; frame-ancestors 'none'"

// styleHash is the hash by which a browser knows the style.
func styleHash(style string) string {
	sum := sha256.Sum256([]byte(style))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// statusPage has the values of the page.
type statusPage struct {
	Words        *statusWords
	Others       []*statusWords // the languages to choose
	Style        template.CSS
	Organization string
	Note         string // in place of the outages; "" = they are shown
	Running      []statusOutage
	Ended        []statusOutage
	Zone         string
}

// statusOutage is an outage as everybody may see it.
type statusOutage struct {
	Title, Message                 string
	From, FromISO, Until, UntilISO string
}

// send answers with the page.
func (a Status) send(c *httpapi.Call, status int, p statusPage) error {
	p.Style, p.Organization, p.Words = template.CSS(statusStyle), c.Org.Name, wordsOf(c) //nolint:gosec // our own file
	p.Others = p.Words.others()
	var text bytes.Buffer
	if err := statusTemplate.Execute(&text, p); err != nil {
		return err
	}
	h := c.Writer.Header()
	h.Add("Vary", "Accept-Language")
	h.Set("Content-Security-Policy", statusPolicy)
	if status == 200 {
		h.Set("Cache-Control", keptFor)
	}
	c.SendBytes(status, "text/html; charset=utf-8", text.Bytes())
	return nil
}

// show answers with the outages that last and those of the last days.
func (a Status) show(ctx context.Context, c *httpapi.Call) error {
	if err := c.CountStatus(ctx); err != nil {
		var limited *failure.Error
		if !errors.As(err, &limited) || limited.Kind != failure.Limited {
			return err
		}
		c.SetRetryAfter(limited)
		return a.send(c, 429, statusPage{Note: wordsOf(c).Later})
	}
	chosen, _, err := a.Outages.Rules(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	if !outagescases.PresentRules(chosen).Public {
		return a.send(c, 200, statusPage{Note: wordsOf(c).Hidden})
	}
	zone, err := a.Zone(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	page := statusPage{Zone: zone.String()}
	for _, lasting := range []bool{true, false} {
		rows, err := a.Outages.List(ctx, c.Org.ID, outagesviews.OutageFilter{
			Lasting: &lasting, Since: a.Clock.Now().Add(-shownFor),
		}, outagesviews.OutageKey{}, shownMost)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if one := public(r, zone, wordsOf(c).Format); lasting {
				page.Running = append(page.Running, one)
			} else {
				page.Ended = append(page.Ended, one)
			}
		}
	}
	return a.send(c, 200, page)
}

// public leaves out all but what somebody wrote for the public, and the times.
func public(r outagesviews.OutageRow, zone *time.Location, format string) statusOutage {
	one := statusOutage{
		Title: r.Title, Message: r.Message, From: r.StartedAt.In(zone).Format(format),
		FromISO: r.StartedAt.UTC().Format(time.RFC3339),
	}
	until := r.EndedAt
	if until == nil {
		until = r.ExpectedEnd
	}
	if until != nil {
		one.Until, one.UntilISO = until.In(zone).Format(format), until.UTC().Format(time.RFC3339)
	}
	return one
}

// sorry answers with the page when the call failed here.
func (a Status) sorry(c *httpapi.Call, status int) bool {
	return a.send(c, status, statusPage{Note: wordsOf(c).Sorry}) == nil
}
