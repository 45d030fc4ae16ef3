package messagingapi

import (
	"cmp"
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/messaging"
)

// Costs serves the reports about what messages cost.
type Costs struct {
	Messages messagingviews.MessagesQuery
	// Zone is where the days of an organization begin and end.
	Zone  func(context.Context, id.Organization) (*time.Location, error)
	Clock clock.Clock
	// Organizations names the organizations with these ids.
	Organizations func(context.Context, []id.Organization) ([]identityviews.OrganizationRow, error)
}

// Routes lists the endpoints.
func (a Costs) Routes() []httpapi.Route {
	span := httpapi.SpanParams("messages that were asked for; the present month when both are absent;")
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/reports/messages", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSupport, Query: span, Response: messageCostsResponse{}, Handle: a.one,
			Summary: "How many messages went on each way, and what the providers ask for them",
		},
		{
			Method: http.MethodGet, Path: "/reports/messages/organizations", Hosts: httpapi.OnRoot,
			Access: httpapi.AccessSuperAdmin, Query: span, Response: allMessageCostsResponse{}, Handle: a.all,
			Summary: "What the messages of each organization cost the platform",
		},
	}
}

// messageCost is a sum in one currency.
type messageCost struct {
	Currency string         `json:"currency"`
	Amount   httpapi.Number `json:"amount" doc:"in major units, as exact as the provider's prices"`
}

// wayCosts are the messages that went on one way.
type wayCosts struct {
	Channel     string        `json:"channel" enum:"sms,email,whatsapp"`
	Handed      int64         `json:"handed" doc:"that the gateway took, or may have"`
	Delivered   int64         `json:"delivered" doc:"of those"`
	Undelivered int64         `json:"undelivered" doc:"of those"`
	InDoubt     int64         `json:"inDoubt" doc:"of those"`
	Failed      int64         `json:"failed" doc:"that it did not take"`
	Unpriced    int64         `json:"unpriced" doc:"of handed: the provider told no price"`
	Costs       []messageCost `json:"costs" doc:"by currency"`
}

// messageCostsResponse tells what the messages of an organization cost (docs/rules/messaging.md#costs).
type messageCostsResponse struct {
	From time.Time  `json:"from"`
	To   time.Time  `json:"to" doc:"not in it"`
	Ways []wayCosts `json:"ways" doc:"those with messages"`
}

// organizationCosts tells what the messages of one organization cost.
type organizationCosts struct {
	OrgID id.Organization `json:"orgId"`
	Slug  *string         `json:"slug" doc:"null: not known yet"`
	Name  *string         `json:"name" doc:"null: not known yet"`
	Ways  []wayCosts      `json:"ways"`
}

// allMessageCostsResponse has them for all organizations with messages.
type allMessageCostsResponse struct {
	From          time.Time           `json:"from"`
	To            time.Time           `json:"to" doc:"not in it"`
	Organizations []organizationCosts `json:"organizations"`
}

// span reads the time that is asked for: the present month without one.
func (a Costs) span(ctx context.Context, c *httpapi.Call, org id.Organization) (from, to time.Time, err error) {
	zone := time.UTC
	if !org.IsZero() {
		if zone, err = a.Zone(ctx, org); err != nil {
			return from, to, err
		}
	}
	f := c.Filters()
	from, to, err = f.Span(func() (*time.Location, error) { return zone, nil })
	if err = cmp.Or(err, f.Err()); err != nil {
		return from, to, err
	}
	now := a.Clock.Now()
	if from.IsZero() && to.IsZero() {
		month := calendar.On(now, zone)
		month.Day = 1
		from = month.Start(zone)
	}
	if to.IsZero() {
		to = now
	}
	return from, to, nil
}

// one answers for the organization of the host.
func (a Costs) one(ctx context.Context, c *httpapi.Call) error {
	from, to, err := a.span(ctx, c, c.Org.ID)
	if err != nil {
		return err
	}
	rows, err := a.Messages.Costs(ctx, c.Org.ID, from, to)
	if err != nil {
		return err
	}
	return c.Send(http.StatusOK, messageCostsResponse{From: from.UTC(), To: to.UTC(), Ways: showWays(rows)})
}

// all answers for all organizations.
func (a Costs) all(ctx context.Context, c *httpapi.Call) error {
	from, to, err := a.span(ctx, c, id.Organization{})
	if err != nil {
		return err
	}
	rows, err := a.Messages.CostsOfAll(ctx, from, to)
	if err != nil {
		return err
	}
	out := allMessageCostsResponse{From: from.UTC(), To: to.UTC(), Organizations: []organizationCosts{}}
	var ids []id.Organization
	for len(rows) > 0 { // those of one organization follow each other
		n := 1
		for n < len(rows) && rows[n].OrgID == rows[0].OrgID {
			n++
		}
		ids = append(ids, rows[0].OrgID)
		out.Organizations = append(out.Organizations, organizationCosts{
			OrgID: rows[0].OrgID, Ways: showWays(rows[:n]),
		})
		rows = rows[n:]
	}
	named, err := a.Organizations(ctx, ids)
	if err != nil {
		return err
	}
	for _, row := range named {
		for i, of := range out.Organizations {
			if of.OrgID == row.ID {
				out.Organizations[i].Slug, out.Organizations[i].Name = null.Of(row.Slug), null.Of(row.Name)
			}
		}
	}
	return c.Send(http.StatusOK, out)
}

// showWays sums up the rows of one organization by way.
func showWays(rows []messagingviews.CostRow) []wayCosts {
	ways := []wayCosts{}
	for _, row := range rows {
		if len(ways) == 0 || ways[len(ways)-1].Channel != row.Channel {
			ways = append(ways, wayCosts{Channel: row.Channel, Costs: []messageCost{}})
		}
		ways[len(ways)-1].add(row)
	}
	return ways
}

// add counts a row.
func (w *wayCosts) add(row messagingviews.CostRow) {
	switch row.State {
	case "queued", "sending", "dropped": // nothing was handed over
		return
	case "failed":
		w.Failed += row.Count
		return
	case "delivered":
		w.Delivered += row.Count
	case "undelivered":
		w.Undelivered += row.Count
	case "in_doubt":
		w.InDoubt += row.Count
	}
	w.Handed += row.Count
	if row.Currency == nil {
		w.Unpriced += row.Count
		return
	}
	for i, known := range w.Costs {
		if known.Currency == *row.Currency {
			w.Costs[i].Amount = plus(known.Amount, row.Amount)
			return
		}
	}
	w.Costs = append(w.Costs, messageCost{Currency: *row.Currency, Amount: plus("0", row.Amount)})
}

// places are the decimal places of sums of prices: providers ask for parts of a cent.
const places = 4

// plus adds two decimals, which are the database's or were made here.
func plus(a httpapi.Number, b string) httpapi.Number {
	sum, part := new(big.Rat), new(big.Rat)
	if _, ok := sum.SetString(string(a)); !ok {
		return a
	}
	if _, ok := part.SetString(b); ok {
		sum.Add(sum, part)
	}
	return json.Number(sum.FloatString(places))
}
