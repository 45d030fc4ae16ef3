package access_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// anHour are terms for vouchers.
var anHour = events.PlanTerms{
	Name: "An hour", Kind: "hotspot", Mode: events.Prepaid, Period: calendar.Hour, Price: money.Major(20, money.KES),
}

// ticket is the voucher of these tests.
var ticket = events.VoucherSubject{
	VoucherID: id.Derive[id.Voucher]("ticket"), OrgID: org, BatchID: id.Derive[id.VoucherBatch]("batch"),
}

// signIn is a sign-in of a device, some minutes after now.
func signIn(mac string, minutes int) commands.SignInVoucher {
	return commands.SignInVoucher{
		Subject: ticket, Price: anHour.Price, MAC: personal.Of(mac), FirstAt: now, EndsAt: now.Add(time.Hour),
		At: now.Add(time.Duration(minutes) * time.Minute),
	}
}

func TestVoucherBatch_IsMadeOnceInBlocks(t *testing.T) {
	t.Parallel()
	ids := make([]id.Voucher, commands.VoucherBlock+1)
	for i := range ids {
		ids[i] = id.New[id.Voucher]()
	}
	batch := commands.MakeVouchers{
		BatchID: ticket.BatchID, OrgID: org, PlanVersion: 2, Terms: anHour, Prefix: "cafe", Vouchers: ids,
	}
	added := func(list []id.Voucher) events.VoucherBatchEvent {
		return events.VouchersAdded{BatchID: ticket.BatchID, OrgID: org, Vouchers: list}
	}
	decidertest.For(t, access.VoucherBatches(), now).When(batch).Then(events.VoucherBatchMade{
		BatchID: ticket.BatchID, OrgID: org, PlanVersion: 2, Terms: anHour, Prefix: "cafe", Count: len(ids), At: now,
	}, added(ids[:commands.VoucherBlock]), added(ids[commands.VoucherBlock:])).
		When(batch).ThenNothing().BelongsTo(org, "not_found")
}

func TestVoucher_IsRedeemedOnceAndMovesToOtherDevices(t *testing.T) {
	t.Parallel()
	decidertest.For(t, access.Vouchers(), now).BelongsTo(id.Organization{}, "voucher_not_found").
		When(signIn("A", 0)).Then(events.VoucherRedeemed{
		VoucherSubject: ticket, Price: anHour.Price, MAC: personal.Of("A"), At: now, EndsAt: now.Add(time.Hour),
	}).BelongsTo(org, "voucher_not_found").
		When(signIn("A", 5)).ThenNothing().
		When(signIn("B", 0)).ThenNothing(). // at the same instant at another router: what was recorded first stays
		When(signIn("B", 10)).Then(events.VoucherMoved{
		VoucherSubject: ticket, MAC: personal.Of("B"), FormerMAC: personal.Of("A"), At: now.Add(10 * time.Minute),
	}).
		When(signIn("B", 10)).ThenNothing().
		When(signIn("A", 9)).ThenNothing().  // older than the move
		When(signIn("A", 60)).ThenNothing(). // the time is over
		At(now.Add(time.Hour)).
		When(commands.VoidVoucher{Subject: ticket, Reason: "lost"}).ThenFails("voucher_used")
}

// TestVoucher_ItsTimeRunsFromTheFirstSignInOfAll: another program has let somebody in before, and records it later.
func TestVoucher_ItsTimeRunsFromTheFirstSignInOfAll(t *testing.T) {
	t.Parallel()
	early := func(mac string, at int) commands.SignInVoucher {
		c := signIn(mac, at)
		c.FirstAt, c.EndsAt = now.Add(-10*time.Minute), now.Add(50*time.Minute)
		return c
	}
	began := events.VoucherBeganEarlier{
		VoucherSubject: ticket, At: now.Add(-10 * time.Minute), EndsAt: now.Add(50 * time.Minute),
	}
	redeemed := events.VoucherRedeemed{
		VoucherSubject: ticket, MAC: personal.Of("A"), At: now, EndsAt: now.Add(time.Hour),
	}
	decidertest.For(t, access.Vouchers(), now).Given(redeemed).
		When(early("B", -10)).Then(began).
		When(early("B", -10)).ThenNothing().
		When(signIn("A", 5)).ThenNothing().
		When(signIn("B", 50)).ThenNothing() // the time is over
	decidertest.For(t, access.Vouchers(), now).Given(redeemed).
		When(early("B", 5)).Then(began, events.VoucherMoved{
		VoucherSubject: ticket, MAC: personal.Of("B"), FormerMAC: personal.Of("A"), At: now.Add(5 * time.Minute),
	})
}

func TestVoucher_IsVoidedOnceUsedOrNot(t *testing.T) {
	t.Parallel()
	void := commands.VoidVoucher{Subject: ticket, Reason: "lost"}
	decidertest.For(t, access.Vouchers(), now).
		When(void).Then(events.VoucherVoided{VoucherSubject: ticket, At: now}).
		When(void).ThenNothing().
		When(signIn("A", 0)).ThenFails("voucher_void")
	decidertest.For(t, access.Vouchers(), now).
		Given(events.VoucherRedeemed{VoucherSubject: ticket, At: now, EndsAt: now.Add(time.Hour)}).
		When(commands.VoidVoucher{Subject: ticket, Reason: "lost", Unused: true}).ThenFails("voucher_in_use").
		When(void).Then(events.VoucherVoided{VoucherSubject: ticket, Redeemed: true, At: now})
}

// TestVoucher_OneUsedBeforeItsVoidingIsSold: sign-ins from before the voiding are recorded after it, those of several
// servers in any order. From the voiding on nothing is.
func TestVoucher_OneUsedBeforeItsVoidingIsSold(t *testing.T) {
	t.Parallel()
	voided := events.VoucherVoided{VoucherSubject: ticket, At: now.Add(10 * time.Minute)}
	redeemed := events.VoucherRedeemed{
		VoucherSubject: ticket, Price: anHour.Price, MAC: personal.Of("A"), At: now, EndsAt: now.Add(time.Hour),
	}
	from := func(mac string, first, at int) commands.SignInVoucher {
		c := signIn(mac, at)
		c.FirstAt = now.Add(time.Duration(first) * time.Minute)
		c.EndsAt = c.FirstAt.Add(time.Hour)
		return c
	}
	began := events.VoucherBeganEarlier{
		VoucherSubject: ticket, At: now.Add(-time.Minute), EndsAt: now.Add(59 * time.Minute),
	}
	moved := events.VoucherMoved{
		VoucherSubject: ticket, MAC: personal.Of("B"), FormerMAC: personal.Of("A"), At: now.Add(9 * time.Minute),
	}
	decidertest.For(t, access.Vouchers(), now).Given(voided).
		When(from("A", 10, 10)).ThenFails("voucher_void").
		When(from("A", 0, 0)).Then(redeemed).
		When(from("A", 0, 0)).ThenNothing().
		When(from("B", 0, 9)).Then(moved).
		When(from("C", 0, 10)).ThenNothing().
		When(from("D", -1, -1)).Then(began).
		When(from("E", 11, 11)).ThenFails("voucher_void").
		When(commands.VoidVoucher{Subject: ticket, Reason: "lost"}).ThenNothing()
	decidertest.For(t, access.Vouchers(), now).Given(voided).
		When(from("A", 0, 11)).Then(redeemed) // the session that is known began after the voiding, the use before
}
