package accesscases

import (
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// MarkType tells what happened, as a word of the API.
type MarkType string

// The marks of days.
const (
	MarkPayment  MarkType = "payment"
	MarkCut      MarkType = "cut"      // only the payment page is left, or nothing
	MarkRestored MarkType = "restored" // entitled again
	MarkPause    MarkType = "pause"
	MarkBlock    MarkType = "block"
	MarkReboot   MarkType = "reboot" // of the router
	MarkRepair   MarkType = "repair" // of the customer's access, or of a service on the router
)

// Mark is something that happened on a day and explains it.
type Mark struct {
	At   time.Time
	Type MarkType
	Says subscribersviews.Sentence
	// Summary is the sentence in English; times are the organization's.
	Summary string
}

// changes lists the marks that follow from how a customer stood: each change for the worse, and back.
func changes(list []standing) []Mark {
	var marks []Mark
	for i := 1; i < len(list); i++ {
		before, now := list[i-1], list[i]
		kind, code := MarkCut, subscribersviews.AccessCut
		switch {
		case now.why == entitlement.CodeBlocked:
			kind, code = MarkBlock, subscribersviews.AccessBlocked
		case before.state == now.state, now.state == DayNone, before.state == DayNone:
			continue // where a service begins, nothing was cut and nothing comes back
		case now.state == DayPaid:
			kind, code = MarkRestored, subscribersviews.AccessRestored
		case now.state == DayPaused:
			kind, code = MarkPause, subscribersviews.AccessPaused
		case now.state == DayWalledGarden:
			code = subscribersviews.AccessWalledIn
		}
		facts := subscribersviews.Facts{Reason: subscribersviews.Reason(now.why)}
		marks = append(marks, Mark{At: now.From, Type: kind, Says: subscribersviews.Sentence{Code: code, Facts: facts}})
	}
	return marks
}

// toldTypes are the entries of the timeline that are marks.
var toldTypes = map[string]MarkType{
	"billing.ReceiptCredited": MarkPayment, "access.AccessRepairAsked": MarkRepair,
	"access.AccessDifferenceClosed": MarkRepair,
}

// told reads the marks of the timeline.
func (d Days) told(
	ctx context.Context, org id.Organization, who id.Subscriber, in events.TimeSpan,
) ([]Mark, error) {
	filter := subscribersviews.TimelineFilter{From: in.From, To: in.To}
	for name := range toldTypes {
		filter.Types = append(filter.Types, name)
	}
	rows, err := d.Timeline.List(ctx, org, who, filter, subscribersviews.TimelineKey{}, mostMarks)
	var marks []Mark
	for _, r := range slices.Backward(rows) {
		marks = append(marks, Mark{At: r.At, Type: toldTypes[r.Type], Says: r.Says()})
	}
	return marks, err
}

// mostMarks is how many entries are read; of more the newest.
const mostMarks = 2_000

// seen tells what befell the routers of a customer while they were the customer's.
type seen struct {
	away  []events.TimeSpan // when the router could not be reached
	marks []Mark
}

// seen reads what befell the router at which the latest session of a customer had begun.
func (d Days) seen(
	ctx context.Context, org id.Organization, who id.Subscriber, in events.TimeSpan,
) (seen, error) {
	begun, err := d.Telemetry.RoutersOf(ctx, org, who, in.To)
	if err != nil || len(begun) == 0 {
		return seen{}, err
	}
	var routers []id.Device
	for _, b := range begun {
		if !slices.Contains(routers, b.DeviceID) {
			routers = append(routers, b.DeviceID)
		}
	}
	rows, err := d.Routers.Happened(ctx, org, routers, in)
	return befell(begun, rows, in), err
}

// befell keeps of what happened at routers what lies within a span, and in the time in which each was the customer's.
func befell(begun []telemetry.Begun, rows []networkviews.Happening, in events.TimeSpan) seen {
	var out seen
	for i, b := range begun {
		own := events.TimeSpan{From: b.At, To: in.To}
		if i+1 < len(begun) {
			own.To = sooner(own.To, begun[i+1].At)
		}
		if own.From.Before(in.From) {
			own.From = in.From
		}
		var away time.Time
		until := func(at time.Time) {
			if from := later(away, own.From); !away.IsZero() && from.Before(sooner(at, own.To)) {
				out.away = append(out.away, events.TimeSpan{From: from, To: sooner(at, own.To)})
			}
			away = time.Time{}
		}
		for _, r := range rows {
			if r.DeviceID != b.DeviceID {
				continue
			}
			mine := !r.At.Before(own.From) && r.At.Before(own.To)
			switch {
			case r.Kind == "unreachable" && away.IsZero():
				away = r.At
			case r.Kind == "recovered":
				until(r.At)
			case r.Kind == "reboot_confirmed" && mine:
				out.marks = append(out.marks, Mark{
					At: r.At, Type: MarkReboot, Says: subscribersviews.Sentence{Code: subscribersviews.RouterRebooted},
				})
			case r.Kind == "repaired" && mine:
				out.marks = append(out.marks, Mark{
					At: r.At, Type: MarkRepair, Says: subscribersviews.Sentence{Code: subscribersviews.ServiceRepaired},
				})
			}
		}
		until(own.To)
	}
	return out
}

// later is the last of two instants.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
