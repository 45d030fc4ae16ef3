package directory_test

import (
	"testing"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// another makes a batch of one more voucher of the seller, with its own terms.
func (v sale) another(terms func(*events.PlanTerms)) (sale, []events.Event) {
	v.batch = id.New[id.VoucherBatch]()
	terms(&v.terms)
	v.codes = codes.Make(v.batch, "cafe", 1)
	return v, []events.Event{
		events.VoucherBatchMade{BatchID: v.batch, OrgID: v.org, PlanVersion: 2, Terms: v.terms, Count: 1},
		events.VouchersAdded{BatchID: v.batch, OrgID: v.org, Vouchers: []id.Voucher{v.subject(0).VoucherID}},
	}
}

// TestVouchers_ADeviceSignsInByTheOneThatGivesSomething: a device has a voucher of a month and signs in with another
// one, which ends, reaches its cap, is voided or moves to another device. By its MAC it still has the month.
func TestVouchers_ADeviceSignsInByTheOneThatGivesSomething(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(*kit, sale){
		"used up": func(k *kit, _ sale) { k.clock.Advance(2 * time.Hour) },
		"at its cap": func(k *kit, v sale) {
			k.apply(events.CapReached{
				UsageSubject: events.VoucherUsage(v.org, v.subject(0).VoucherID),
				CapPeriod:    events.CapPeriod{Period: "month", ResetsAt: noon.AddDate(0, 1, 0)}, At: noon,
			})
		},
		"void": func(k *kit, v sale) {
			k.apply(events.VoucherVoided{VoucherSubject: v.subject(0), At: k.clock.Now()})
		},
		"moved": func(k *kit, v sale) { k.accepted(typed(laptop, v.codes[0])) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSafe()
			month, history := sell(s, calendar.Month, 1)
			hour, made := month.another(func(terms *events.PlanTerms) {
				terms.Period = calendar.Hour
				terms.Access.Cap = events.Cap{Bytes: 1000, Period: "month", Then: events.CapStop}
			})
			k := newKit(t, s, append(history, made...)...)
			k.accepted(typed(phone, month.codes[0]))
			k.clock.Advance(time.Minute)
			k.accepted(typed(phone, hour.codes[0]))
			left := func() rfc2865.SessionTimeout {
				answer, _ := k.accepted(hotspot(phone, phone, phone))
				return rfc2865.SessionTimeout_Get(answer)
			}
			if got := left(); got != 3600 {
				t.Errorf("%d seconds by the latest one", got)
			}
			ends(k, hour)
			if got := left(); got < 20*24*3600 {
				t.Errorf("%d seconds by the other one", got)
			}
			now := k.clock.Now()
			_, whose := k.dir.Named(month.org, directory.Shown{Username: phone, MAC: phone, Hotspot: true}, now)
			if whose != directory.VoucherService(month.subject(0).VoucherID) {
				t.Errorf("a session by the MAC is of %s", whose)
			}
			k.clock.Advance(40 * 24 * time.Hour)
			k.refused(hotspot(phone, phone, phone), directory.CodeVoucherUsed)
		})
	}
}

// TestVouchers_ADeviceOfALapsedSubscriptionSignsInByItsVoucher: whichever of both gives more counts.
func TestVouchers_ADeviceOfALapsedSubscriptionSignsInByItsVoucher(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Day, 1)
	k := newKit(t, s, append(append(history, v.paid(noon.Add(time.Hour))...), events.SubscriptionAddressesAssigned{
		SubscriptionID: v.subscription, MACAddresses: []personal.Text{personal.Of(phone)},
	})...)
	owner := func() id.Subscription {
		shown := directory.Shown{Username: phone, MAC: phone, Hotspot: true}
		_, of := k.dir.Named(v.org, shown, k.clock.Now())
		return of
	}
	k.accepted(typed(phone, v.codes[0]))
	if k.accepted(hotspot(phone, phone, phone)); owner() != v.subscription {
		t.Errorf("the paid subscription is hidden by %s", owner())
	}
	k.clock.Advance(2 * time.Hour)
	answer, _ := k.accepted(hotspot(phone, phone, phone))
	if got := rfc2865.SessionTimeout_Get(answer); got != 22*3600 ||
		owner() != directory.VoucherService(v.subject(0).VoucherID) {
		t.Errorf("%d seconds are left, of %s", got, owner())
	}
	k.clock.Advance(24 * time.Hour)
	k.refused(hotspot(phone, phone, phone), directory.CodeUnpaid)
}
