package accessviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// Of five vouchers one is used, before the log knew of it, and moved twice, one voided in use, one voided before, one
// voided before the log knew that it was in use, and one is left alone. What jane wrote as a reason goes when she is
// forgotten; what joe wrote stays.
func TestVouchers_Story(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	acme, batch := id.Derive[id.Organization]("test", "acme"), id.Derive[id.VoucherBatch]("test", "batch")
	router := id.Derive[id.Device]("test", "router")
	subject := func(name string) events.VoucherSubject {
		return events.VoucherSubject{VoucherID: id.Derive[id.Voucher]("test", name), OrgID: acme, BatchID: batch}
	}
	added := events.VouchersAdded{BatchID: batch, OrgID: acme}
	for _, name := range []string{"moved", "voided", "never", "late", "left"} {
		added.Vouchers = append(added.Vouchers, subject(name).VoucherID)
	}
	redeemed := func(s events.VoucherSubject) events.Event {
		return events.VoucherRedeemed{
			VoucherSubject: s, DeviceID: router, MAC: personal.Of("02:00:00:00:00:01"), At: began,
			EndsAt: began.Add(time.Hour),
		}
	}
	moved := func(mac string, at time.Time) events.Event {
		return events.VoucherMoved{VoucherSubject: subject("moved"), DeviceID: router, MAC: personal.Of(mac), At: at}
	}
	by := func(name, why string) func(*events.Metadata) {
		return func(m *events.Metadata) {
			m.Actor = events.Actor{Kind: events.ActorUser, ID: id.Derive[id.User]("test", name).String()}
			m.Said = personal.Of(why)
		}
	}
	story := projectiontest.NewStory(acme, began).
		Add("voucherbatch-1", events.VoucherBatchMade{
			BatchID: batch, OrgID: acme, PlanID: id.Derive[id.Plan]("test", "hour"), PlanVersion: 1, Prefix: "cafe",
			Terms: events.PlanTerms{Name: "An hour", Period: calendar.Hour, Price: money.Major(20, money.KES)},
			Count: 5, MadeBy: id.Derive[id.User]("test", "jane"), At: began,
		}, added).
		Add("voucher-moved", redeemed(subject("moved")), moved("02:00:00:00:00:02", began.Add(time.Minute)),
			events.VoucherBeganEarlier{
				VoucherSubject: subject("moved"), DeviceID: router, At: began.Add(-time.Minute),
				EndsAt: began.Add(59 * time.Minute),
			},
			moved("02:00:00:00:00:03", began.Add(2*time.Minute))).
		Add("voucher-voided", redeemed(subject("voided")),
			events.VoucherVoided{VoucherSubject: subject("voided"), Redeemed: true, At: began.Add(time.Minute)}).
		With(by("jane", "torn by my son")).
		Add("voucher-never", events.VoucherVoided{VoucherSubject: subject("never"), At: began.Add(time.Minute)}).
		With(by("joe", "the shop has burnt")).
		Add("voucher-late", events.VoucherVoided{VoucherSubject: subject("late"), At: began.Add(time.Minute)},
			redeemed(subject("late"))).
		Add("user-jane", events.UserForgotten{UserID: id.Derive[id.User]("test", "jane")})
	projectiontest.Check(t, accessviews.Vouchers{}, story)
}
