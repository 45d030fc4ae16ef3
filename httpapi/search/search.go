// Package searchapi serves the search over everything.
package searchapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/usecases/search"
)

// Limits of the number of results. Source: docs/rules/http.md#search.
const (
	defaultResults = 20
	maxResults     = 50
)

// Search serves /search.
type Search struct{ Cases searchcases.Search }

// Routes lists the endpoints, one for each kind of host.
func (a Search) Routes() []httpapi.Route {
	limit := httpapi.Param{Name: "limit", Type: "integer", Doc: "results, 1 to 50; 20 when absent"}
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/search", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary:  "Find customers, what is theirs, and routers by anything that people read out",
			Response: searchResponse{}, Handle: a.find,
			Query: []httpapi.Param{{
				Name: "q", Type: "string", Doc: "words of a name, a phone or its last digits from four on, an " +
					"account number, username, MAC or IP address, a receipt or invoice number, the code of a " +
					"voucher, the serial number of a device at a customer's; a question about the address of a " +
					"session is noted in the audit log",
			}, limit},
		},
		{
			Method: http.MethodGet, Path: "/search", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary:  "Find organizations by slug and name, and money that belongs to none by its receipt number",
			Response: searchResponse{}, Handle: a.onPlatform,
			Query: []httpapi.Param{{
				Name: "q", Type: "string", Doc: "a slug, words of a name, or a receipt number",
			}, limit},
		},
	}
}

// searchResponse has the best result first.
type searchResponse struct {
	Data []resultResponse `json:"data"`
}

// resultType says which kind of thing a result is; Texts lists the values.
type resultType string

// Texts lists the types of results.
func (resultType) Texts() []string { return searchcases.Types }

// matchedBy says which part of a result was found; Texts lists the values.
type matchedBy string

// Texts lists what can be found.
func (matchedBy) Texts() []string { return searchcases.Matches }

// resultResponse is one thing that was found, with what a row of a list of results shows.
type resultResponse struct {
	Type         resultType     `json:"type"`
	ID           id.Any         `json:"id" doc:"of the thing that opens"`
	Title        string         `json:"title" doc:"the name or the number"`
	Subtitle     string         `json:"subtitle" doc:"what tells it from others, such as customer and amount"`
	SubscriberID *id.Subscriber `json:"subscriberId" doc:"the customer; null: none that is known"`
	Match        matchedBy      `json:"match" doc:"what was found"`
	State        string         `json:"state" doc:"as in lists of its type; of a session online or ended"`
}

// find answers with the best results within an organization.
func (a Search) find(ctx context.Context, c *httpapi.Call) error {
	text, max, err := question(c)
	if err != nil {
		return err
	}
	list, err := a.Cases.Find(ctx, c.Asked(), searchcases.Query{
		Org: c.Org.ID, Text: text, Max: max, Routers: c.Caller.Role.AtLeast(events.RoleAdmin),
	})
	if err != nil {
		return err
	}
	return send(c, list)
}

// onPlatform answers with the best results of the platform.
func (a Search) onPlatform(ctx context.Context, c *httpapi.Call) error {
	text, max, err := question(c)
	if err != nil {
		return err
	}
	list, err := a.Cases.OnPlatform(ctx, text, max)
	if err != nil {
		return err
	}
	return send(c, list)
}

// question reads q and limit. Fails: invalid_input.
func question(c *httpapi.Call) (text string, max int, err error) {
	f := c.Filters()
	if text = f.Text("q"); text == "" && f.Err() == nil {
		f.Add("q", "must not be empty")
	}
	max = defaultResults
	if given := f.Text("limit"); given != "" || c.Request.URL.Query().Has("limit") {
		if max, err = strconv.Atoi(given); err != nil || max < 1 || max > maxResults {
			f.Add("limit", "must be a whole number from 1 to %d", maxResults)
		}
	}
	return text, max, f.Err()
}

// send writes the results. They have names and addresses, so nobody on the way keeps them.
func send(c *httpapi.Call, list []searchcases.Result) error {
	out := searchResponse{Data: make([]resultResponse, 0, len(list))}
	for _, r := range list {
		out.Data = append(out.Data, resultResponse{
			Type: resultType(r.Type), ID: r.ID, Title: r.Title, Subtitle: r.Subtitle,
			SubscriberID: null.Of(r.SubscriberID), Match: matchedBy(r.Match), State: r.State,
		})
	}
	c.Writer.Header().Set("Cache-Control", "no-store")
	return c.Send(http.StatusOK, out)
}
