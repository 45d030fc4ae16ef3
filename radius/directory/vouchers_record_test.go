package directory_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"layeh.com/radius/rfc2865"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// recording starts a recorder; the test ends it.
func (k *kit) recording(record func(directory.VoucherSignIn) error) {
	k.t.Helper()
	r := directory.NewVoucherRecorder(k.dir, func(_ context.Context, in directory.VoucherSignIn) error {
		return record(in)
	}, slog.New(slog.DiscardHandler))
	if err := r.Start(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(r.Stop)
}

func TestVouchers_SignInsOfOneAreRecordedInTheirOrderWhenTheDatabaseComesBack(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Day, 2)
	k := newKit(t, s, history...)
	for i := range 4 {
		k.accepted(typed([]string{phone, laptop}[i%2], v.codes[0]))
		k.clock.Advance(2 * time.Minute)
	}
	k.accepted(typed(phone, v.codes[1]))
	tries, got, refused := 0, make(chan time.Time, 4), make(chan bool, 1)
	k.recording(func(in directory.VoucherSignIn) error {
		if in.Subject == v.subject(1) {
			refused <- true
			return failure.NewConflict("voucher_void", "This voucher is void.")
		}
		if tries++; tries < 4 { // one after the other: they are of one voucher
			return errors.New("away")
		}
		got <- in.At
		return nil
	})
	for i := range 4 {
		if at := <-got; !at.Equal(noon.Add(time.Duration(i) * 2 * time.Minute)) {
			t.Errorf("sign-in %d is recorded with %s", i, at)
		}
	}
	<-refused
}

func TestVouchers_OneThatCannotBeRecordedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Day, 2)
	k := newKit(t, s, history...)
	k.accepted(typed(phone, v.codes[0]))
	k.accepted(typed(laptop, v.codes[1]))
	got, again := make(chan id.Voucher, 1), make(chan bool, 100)
	k.recording(func(in directory.VoucherSignIn) error {
		if in.Subject == v.subject(0) {
			again <- true
			return errors.New("decode event 3 of the stream: unexpected end of JSON input")
		}
		got <- in.Subject.VoucherID
		return nil
	})
	if one := <-got; one != v.subject(1).VoucherID {
		t.Errorf("recorded %v", one)
	}
	for range 3 {
		<-again
	}
}

// TestVouchers_SeveralAreRecordedAtTheSameTime: an event store that is slow for each makes none wait for all others.
func TestVouchers_SeveralAreRecordedAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Day, 6)
	k := newKit(t, s, history...)
	for _, code := range v.codes {
		k.accepted(typed(phone, code))
	}
	began, finish := make(chan id.Voucher), make(chan struct{})
	k.recording(func(in directory.VoucherSignIn) error {
		began <- in.Subject.VoucherID
		<-finish
		return nil
	})
	for range v.codes {
		<-began
	}
	close(finish)
}

// TestVouchers_APanicWhileOneIsRecordedStopsNothing: it is tried again, as after any other failure.
func TestVouchers_APanicWhileOneIsRecordedStopsNothing(t *testing.T) {
	t.Parallel()
	s := newSafe()
	v, history := sell(s, calendar.Day, 1)
	k := newKit(t, s, history...)
	k.accepted(typed(phone, v.codes[0]))
	tries, got := 0, make(chan bool, 1)
	k.recording(func(directory.VoucherSignIn) error {
		if tries++; tries < 3 {
			panic("out of luck")
		}
		got <- true
		return nil
	})
	<-got
}

// recorder starts a recorder of what the routers of a directory report; the test ends it.
func (k *kit) recorder(store *telemetry.Store, spool string) *telemetry.Recorder {
	k.t.Helper()
	r := telemetry.NewRecorder(telemetry.Config{
		Store: store, SpoolDir: spool, Heard: k.dir.Heard, Directory: telemetry.Directory{
			Zone: k.dir.Zone, Resolve: func(r telemetry.Report) telemetry.Given {
				h, _ := k.dir.Holder(r.Org, r.Class, r.User, r.At)
				return telemetry.Given{Subscriber: h.SubscriberID, Subscription: h.SubscriptionID}
			},
		},
	})
	if err := r.Start(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(r.Stop)
	return r
}

// TestVouchers_OneUsedUpWhileTheDatabaseIsAwayIsRecorded: all of a voucher's session is acknowledged into the spool,
// and the program is killed before the database is back.
func TestVouchers_OneUsedUpWhileTheDatabaseIsAwayIsRecorded(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	store, err := telemetry.Open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	second := pgtest.Open(t, pgtest.URL(t), db.Namespace)
	away, err := telemetry.Open(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
	s, spool := newSafe(), t.TempDir()
	v, history := sell(s, calendar.Hour, 1)

	killed := newKit(t, s, history...)
	answer, _ := killed.accepted(typed(phone, v.codes[0]))
	r := killed.recorder(away, spool)
	for _, report := range []telemetry.Report{
		{Kind: telemetry.Start, At: noon},
		{Kind: telemetry.Stop, At: noon.Add(time.Hour), Online: time.Hour, Cause: 5},
	} {
		report.Org, report.Device, report.Session, report.Class = v.org, v.router, "80500001", rfc2865.Class_Get(answer)
		report.User, report.MAC, report.Calling = v.codes[0], phone, phone
		durable := make(chan bool, 1)
		r.Record(report, func(is bool) { durable <- is })
		if !<-durable {
			t.Fatal("not acknowledged")
		}
	}
	r.Stop()
	killed.stop()

	k := newKit(t, s, history...) // the log has no sign-in
	k.clock.Advance(2 * time.Hour)
	k.recorder(store, spool)
	if in := k.recorded(1)[0]; in.Subject != v.subject(0) || !in.First.Equal(noon) ||
		!in.Ends.Equal(noon.Add(time.Hour)) || in.MAC.String() != phone {
		t.Errorf("recorded %+v", in)
	}
	k.refused(typed(laptop, v.codes[0]), directory.CodeVoucherUsed)
}
