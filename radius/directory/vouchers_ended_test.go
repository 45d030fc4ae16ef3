package directory_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// reaches lets the time of the log reach an instant.
func reaches(d *directory.Directory, at time.Time) {
	d.Apply(events.Envelope{Event: events.VouchersAdded{}, Meta: events.Metadata{At: at}})
}

// TestVouchers_WhatHasEndedIsKnownForAMonth: sign-ins are refused for what is true, and sessions are those of the
// voucher. Then it is forgotten.
func TestVouchers_WhatHasEndedIsKnownForAMonth(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Hour, 4)
	k := newKit(t, s, history...)
	const used, void, torn, unused = 0, 1, 2, 3
	answer, _ := k.accepted(typed(phone, v.codes[used]))
	k.accepted(typed(laptop, v.codes[void]))
	list := k.recorded(2)
	k.apply(redeemed(list[0]), redeemed(list[1]), events.VoucherVoided{VoucherSubject: v.subject(void), At: noon},
		events.VoucherVoided{VoucherSubject: v.subject(torn), At: noon})
	whose := directory.VoucherService(v.subject(used).VoucherID)
	for _, day := range []int{1, 8, 20} {
		now := noon.AddDate(0, 0, day)
		k.clock.Set(now)
		reaches(k.dir, now)
		k.refused(typed(phone, v.codes[used]), directory.CodeVoucherUsed)
		k.refused(typed(phone, v.codes[void]), directory.CodeVoucherVoid)
		k.refused(typed(phone, v.codes[torn]), directory.CodeVoucherVoid)
		h, known := k.dir.Holder(v.org, rfc2865.Class_Get(answer), "any", now)
		if !known || h.SubscriptionID != whose || h.Grant.Down != 10_000 {
			t.Errorf("day %d: the session is of %+v", day, h)
		}
		if p := k.dir.Present(whose, now); p.Code != entitlement.CodeEnded || p.Grant != (directory.Grant{}) {
			t.Errorf("day %d: present %+v", day, p)
		}
		if limit := k.dir.SessionLimit(whose, now); limit != 1 {
			t.Errorf("day %d: %d sessions", day, limit)
		}
	}
	k.accepted(typed(laptop, v.codes[unused]))
	for _, day := range []int{60, 61} {
		k.clock.Set(noon.AddDate(0, 0, day))
		reaches(k.dir, k.clock.Now())
	}
	k.refused(typed(phone, v.codes[used]), directory.CodeUnknownUser)
	if _, known := k.dir.Holder(v.org, rfc2865.Class_Get(answer), "any", noon); known {
		t.Error("the session is known after two months")
	}
}

// TestVouchers_ASaleIsRecordedHoweverLongAgoTheVoidingWas: another program had let the customer in, and its disk comes
// back after ten days.
func TestVouchers_ASaleIsRecordedHoweverLongAgoTheVoidingWas(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Hour, 1)
	elsewhere := newKit(t, s, history...)
	answer, _ := elsewhere.accepted(typed(phone, v.codes[0]))
	k := newKit(t, s, append(history, events.VoucherVoided{VoucherSubject: v.subject(0), At: noon.Add(time.Minute)})...)
	reaches(k.dir, noon.AddDate(0, 0, 10))
	k.dir.Heard(telemetry.Report{Org: v.org, Device: v.router, Class: rfc2865.Class_Get(answer), MAC: phone})
	in := k.recorded(1)[0]
	if !in.First.Equal(noon) || !in.Ends.Equal(noon.Add(time.Hour)) || in.MAC.String() != phone {
		t.Errorf("recorded %+v", in)
	}
	k.refused(typed(phone, v.codes[0]), directory.CodeVoucherVoid)
}

// TestVouchers_AClockThatWasAheadTakesNoneAway: somebody whose clock is ahead, this program too or another one alone,
// records something, and the clock is put right. A program that starts then reads the same log.
func TestVouchers_AClockThatWasAheadTakesNoneAway(t *testing.T) {
	t.Parallel()
	for _, ahead := range []int{10, 120} {
		s := newSafe()
		v, history := sell(s, calendar.Day, 1)
		k := newKit(t, s, history...)
		k.accepted(typed(phone, v.codes[0]))
		sold := redeemed(k.recorded(1)[0])
		k.apply(sold)
		reaches(k.dir, noon)
		restarted := newKit(t, s, append(history, sold)...)
		for day := range 3 { // here a wrong clock is right again before the day is over
			wrong := noon.AddDate(0, 0, ahead+day)
			restarted.clock.Set(noon.Add(time.Hour))
			reaches(restarted.dir, wrong)
			if day == 0 {
				k.clock.Set(wrong)
				reaches(k.dir, wrong)
				k.refused(typed(phone, v.codes[0]), directory.CodeVoucherUsed)
			}
		}
		k.clock.Set(noon.Add(time.Hour))
		for _, k := range []*kit{k, restarted} {
			reaches(k.dir, noon.Add(time.Hour))
			for _, mac := range []string{phone, laptop} {
				answer, _ := k.accepted(typed(mac, v.codes[0]))
				if got := rfc2865.SessionTimeout_Get(answer); got != 23*3600 {
					t.Errorf("%d days ahead: %d seconds are left", ahead, got)
				}
			}
		}
	}
}

// TestVouchers_AClockThatWasAheadForDaysTakesNoCapAway: this program takes a voucher that is in use for one that ended
// a while ago. When the clock is put right, it goes on as it was, and the device that has it signs in by its MAC.
func TestVouchers_AClockThatWasAheadForDaysTakesNoCapAway(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Day, 2)
	made, _ := history[len(history)-2].(events.VoucherBatchMade)
	made.Terms.Access.Cap = events.Cap{Bytes: 1000, Period: "month", Then: events.CapStop}
	history[len(history)-2] = made
	k := newKit(t, s, history...)
	const stopped, free = 0, 1
	k.accepted(typed(phone, v.codes[stopped]))
	k.accepted(typed(laptop, v.codes[free]))
	for _, in := range k.recorded(2) {
		k.apply(redeemed(in))
	}
	k.apply(events.CapReached{
		UsageSubject: events.VoucherUsage(v.org, v.subject(stopped).VoucherID),
		CapPeriod:    events.CapPeriod{Period: "month", ResetsAt: noon.AddDate(0, 1, 0)}, At: noon,
	})
	for _, day := range []int{10, 12} {
		k.clock.Set(noon.AddDate(0, 0, day))
		reaches(k.dir, k.clock.Now())
	}
	k.clock.Set(noon.Add(time.Hour))
	k.refused(typed(phone, v.codes[stopped]), directory.CodeCapReached)
	k.accepted(typed(laptop, v.codes[free]))
	k.accepted(hotspot(laptop, laptop, laptop))
}

// TestMemory_EndedVouchersStaySmall is serial, because it measures the heap. Vouchers are made in small batches, of a
// plan that changes often, and used up.
func TestMemory_EndedVouchersStaySmall(t *testing.T) { //nolint:paralleltest // measures the heap
	const weeks, batches, most = 24, 400, 2_400_000
	d, org, plan := directory.New(directory.Config{Clock: clock.NewManual(noon.AddDate(1, 0, 0))}),
		id.New[id.Organization](), id.New[id.Plan]()
	before := heap()
	for n := range weeks * batches {
		now := noon.Add(time.Duration(n) * (7 * 24 * time.Hour / batches))
		made := events.VoucherBatchMade{
			BatchID: id.New[id.VoucherBatch](), OrgID: org, PlanID: plan, PlanVersion: n / 10,
		}
		added := events.VouchersAdded{BatchID: made.BatchID, OrgID: org}
		for range 5 {
			added.Vouchers = append(added.Vouchers, id.New[id.Voucher]())
		}
		list := []events.Event{made, added}
		for i, one := range added.Vouchers {
			list = append(list, events.VoucherRedeemed{
				VoucherSubject: events.VoucherSubject{VoucherID: one, OrgID: org, BatchID: made.BatchID},
				MAC:            personal.Of(fmt.Sprintf("02:00:%02X:%02X:%02X:%02X", i, n>>16&255, n>>8&255, n&255)),
				At:             now, EndsAt: now.Add(time.Hour),
			})
		}
		for _, e := range list {
			d.Apply(events.Envelope{Event: e, Meta: events.Metadata{At: now}})
		}
	}
	if used := heap() - before; used > most {
		t.Errorf("%d vouchers a week take %d bytes", 5*batches, used)
	}
	runtime.KeepAlive(d)
}

// TestMemory_BatchesOfOneVoucherStaySmall is serial, because it measures the heap.
func TestMemory_BatchesOfOneVoucherStaySmall(t *testing.T) { //nolint:paralleltest // measures the heap
	const vouchers, most = 20_000, 20_000 * 250
	d, org, plan := directory.New(directory.Config{}), id.New[id.Organization](), id.New[id.Plan]()
	before := heap()
	for range vouchers {
		made := events.VoucherBatchMade{BatchID: id.New[id.VoucherBatch](), OrgID: org, PlanID: plan, PlanVersion: 1}
		d.Apply(events.Envelope{Event: made})
		d.Apply(events.Envelope{Event: events.VouchersAdded{
			BatchID: made.BatchID, OrgID: org, Vouchers: []id.Voucher{id.New[id.Voucher]()},
		}})
	}
	if used := heap() - before; used > most {
		t.Errorf("%d vouchers take %d bytes", vouchers, used)
	}
	runtime.KeepAlive(d)
}
