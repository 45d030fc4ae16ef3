package billingapi

import (
	"context"
	"strconv"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// Collections serves /reports/collections.
type Collections struct {
	Cases billingcases.Collections
}

// Routes lists the endpoints of reports about money.
func (a Collections) Routes() []httpapi.Route {
	days := []httpapi.Param{
		{Name: "from", Type: "date", Doc: "first day, in the organization's zone; the last one when absent"},
		{Name: "to", Type: "date", Doc: "last day; today when absent; at most 366 days in all"},
	}
	return []httpapi.Route{
		{
			Method: "GET", Path: "/reports/collections", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Money received by day, channel and staff member", Response: collectionsResponse{},
			Query: append(days[:2:2], httpapi.Param{
				Name: "format", Type: "string", Enum: formats,
				Doc: "csv: a table with a row for each day, channel and staff member, and for each day and channel " +
					"of money in suspense, as text/csv",
			}),
			Handle: a.report,
		},
		{
			Method: "GET", Path: "/reports/collections/receipts", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSupport, Row: collectedPayment{}, Handle: a.receipts,
			Summary: "What the sums are made of, newest first: the amounts add up to the sum",
			Query: append(days[:2:2],
				httpapi.Param{
					Name: "channel", Type: "string", Enum: billingviews.CollectedChannels,
					Doc: "none: that of money whose channel is not known",
				},
				httpapi.Param{
					Name: "takenBy", Type: "uuid",
					Doc: "cash that this member of staff took, and vouchers that they made",
				},
				httpapi.Param{
					Name: "side", Type: "string", Enum: billingviews.CollectedSides,
					Doc: "of the sum; both when absent",
				},
			),
		},
	}
}

// collectedSides are the two parts of a total.
type collectedSides struct {
	Received  httpapi.Number `json:"received" doc:"what total is made of"`
	TakenBack httpapi.Number `json:"takenBack" doc:"positive; total is received less takenBack"`
}

// showSides writes them in major units.
func showSides(s billingcases.Sides) collectedSides {
	return collectedSides{Received: s.Received.Number(), TakenBack: s.TakenBack.Number()}
}

// collectionsResponse is the money received on all days. Money that was taken back is subtracted on the day of the
// correction. Amounts are in major units.
type collectionsResponse struct {
	From     calendar.Date  `json:"from"`
	To       calendar.Date  `json:"to"`
	Currency money.Currency `json:"currency"`
	Total    httpapi.Number `json:"total" doc:"the credits of all statements in these days, and the vouchers sold"`
	collectedSides
	Days     []collectionsDay    `json:"days" doc:"every day, oldest first"`
	Channels []channelTotal      `json:"channels"`
	Staff    []staffTotal        `json:"staff"`
	Suspense collectionsSuspense `json:"suspense" doc:"what came in these days and is in suspense now: in no sum"`
}

// collectionsSuspense is money that no account has yet. It is in the collections of the day on which somebody places
// it.
type collectionsSuspense struct {
	Amount httpapi.Number `json:"amount"`
	Count  int64          `json:"count" doc:"payments"`
}

// collectionsDay is the money received on one day of the organization's zone.
type collectionsDay struct {
	Date  calendar.Date  `json:"date"`
	Total httpapi.Number `json:"total"`
	collectedSides
	Channels []channelTotal `json:"channels"`
	Staff    []staffTotal   `json:"staff"`
}

// channelTotal is the money that came through one channel.
type channelTotal struct {
	Channel collectedChannel `json:"channel"`
	Total   httpapi.Number   `json:"total"`
	collectedSides
	Count int64 `json:"count" doc:"payments, less those taken back"`
}

// staffTotal is the cash that one user took, and the vouchers of that user that were sold.
type staffTotal struct {
	UserID id.User        `json:"userId"`
	Name   *string        `json:"name" doc:"null: no member of the organization, or forgotten"`
	Total  httpapi.Number `json:"total"`
	collectedSides
	Count int64 `json:"count" doc:"payments, less those taken back"`
	// Channels tell the cash, whose receipts are a list, from vouchers, which have none.
	Channels []channelTotal `json:"channels" doc:"what it is made of: kinds of cash, voucher"`
}

// report answers with the sums as the read model shows them now.
func (a Collections) report(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	in := billingcases.CollectionsInput{From: f.Date("from"), To: f.Date("to")}
	format := f.OneOf("format", formats...)
	if err := f.Err(); err != nil {
		return err
	}
	report, err := a.Cases.Report(ctx, c.Org.ID, in)
	if err != nil {
		return err
	}
	if format == "csv" {
		return sendCollections(c, report)
	}
	return c.Send(200, showCollections(report))
}

// sendCollections answers with a table: a row for each day, channel and user who took cash or made vouchers, and one
// for each day and channel of what is in suspense, in columns of its own, so that the amounts add up to the total.
func sendCollections(c *httpapi.Call, r billingcases.CollectionsReport) error {
	none := string(money.Of(0, r.Currency).Number())
	rows := make([][]string, 0, len(r.Rows)+len(r.Waiting))
	for _, row := range r.Rows {
		by := ""
		if !row.TakenBy.IsZero() {
			by = row.TakenBy.String()
		}
		rows = append(rows, []string{
			row.Date.String(), row.Channel, by, r.Names[row.TakenBy], string(row.Total.Number()), string(r.Currency),
			strconv.FormatInt(row.Count, 10), none, "0", string(row.Received.Number()),
			string(row.TakenBack.Number()),
		})
	}
	for _, w := range r.Waiting {
		rows = append(rows, []string{
			w.Date.String(), w.Channel, "", "", none, string(r.Currency), "0", string(w.Amount.Number()),
			strconv.FormatInt(w.Count, 10), none, none,
		})
	}
	return c.SendCSV("collections-"+r.From.String()+"-"+r.To.String()+".csv",
		[]string{"date", "channel", "userId", "name", "amount", "currency", "count", "suspense",
			"suspenseCount", "received", "takenBack"}, rows)
}

// showCollections writes amounts in major units; no list is null.
func showCollections(r billingcases.CollectionsReport) collectionsResponse {
	out := collectionsResponse{
		From: r.From, To: r.To, Currency: r.Currency, Total: r.All.Total.Number(),
		collectedSides: showSides(r.All.Sides), Days: make([]collectionsDay, len(r.Days)),
		Channels: showChannels(r.All.Channels), Staff: showStaff(r.All, r.Names),
	}
	waiting := money.Of(0, r.Currency)
	for _, w := range r.Waiting {
		waiting = waiting.Add(w.Amount)
		out.Suspense.Count += w.Count
	}
	out.Suspense.Amount = waiting.Number()
	for i, day := range r.Days {
		out.Days[i] = collectionsDay{
			Date: day.Date, Total: day.Total.Number(), collectedSides: showSides(day.Sides),
			Channels: showChannels(day.Channels), Staff: showStaff(day, r.Names),
		}
	}
	return out
}

// showChannels gives an empty list, not null, when no money came.
func showChannels(sums []billingcases.ChannelSum) []channelTotal {
	out := make([]channelTotal, len(sums))
	for i, s := range sums {
		out[i] = channelTotal{
			Channel: collectedChannel(s.Channel), Total: s.Total.Number(),
			collectedSides: showSides(s.Sides), Count: s.Count,
		}
	}
	return out
}

// showStaff adds the names; an unknown user's name is null, and the list never is.
func showStaff(sum billingcases.Collected, names map[id.User]string) []staffTotal {
	out := make([]staffTotal, len(sum.Staff))
	for i, s := range sum.Staff {
		out[i] = staffTotal{
			UserID: s.UserID, Name: null.Of(names[s.UserID]), Total: s.Total.Number(),
			collectedSides: showSides(s.Sides), Count: s.Count, Channels: showChannels(s.Channels),
		}
	}
	return out
}
