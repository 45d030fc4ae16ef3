package accounting_test

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/accounting"
)

// nobody is a directory without users.
type nobody struct{}

// Find implements radius.Directory.
func (nobody) Find(*radius.NAS, *radius.Request) *radius.Credential { return nil }

// Decide implements radius.Directory.
func (nobody) Decide(radius.Question, *radius.Reply) {}

func TestSink_AnAnsweredInterimIsInTheTable(t *testing.T) {
	t.Parallel()
	db, secret := pgtest.New(t), []byte("xyzzy5461")
	store, err := telemetry.Open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	recorder := telemetry.NewRecorder(telemetry.Config{
		Store: store, SpoolDir: t.TempDir(),
		Directory: telemetry.Directory{Resolve: func(telemetry.Report) telemetry.Given { return telemetry.Given{} }},
	})
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	server, err := radius.New(radius.Config{
		AccessAddr: "127.0.0.1:0", AccountingAddr: "127.0.0.1:0", Directory: nobody{},
		Accounting: accounting.Sink{Recorder: recorder}, Clock: clock.NewManual(noon),
	})
	if err != nil {
		t.Fatal(err)
	}
	server.SetNAS([]*radius.NAS{{
		ID: id.New[id.Device](), Org: id.New[id.Organization](), Secret: secret,
		Own: []netip.Addr{netip.MustParseAddr("127.0.0.1")},
	}})
	if err := errors.Join(recorder.Start(t.Context()), server.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recorder.Stop)
	t.Cleanup(server.Stop)
	p := layeh.New(layeh.CodeAccountingRequest, secret)
	for _, err := range []error{
		rfc2866.AcctStatusType_Set(p, rfc2866.AcctStatusType_Value_InterimUpdate),
		rfc2865.UserName_SetString(p, "amina"), rfc2866.AcctSessionID_SetString(p, "81000001"),
		rfc2866.AcctSessionTime_Set(p, 600), rfc2866.AcctDelayTime_Set(p, 5), rfc2866.AcctInputOctets_Set(p, 7),
		rfc2866.AcctOutputOctets_Set(p, 9), rfc2869.AcctOutputGigawords_Set(p, 1),
		rfc2865.CallingStationID_SetString(p, "aa-bb-cc-00-11-22"),
		rfc2865.FramedIPAddress_Set(p, net.IPv4(100, 64, 0, 9)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := layeh.Exchange(t.Context(), p, server.AccountingAddr().String()); err != nil {
		t.Fatal(err)
	}
	var mac, ip string
	var started time.Time
	var down, up int64
	if err := db.Owner.QueryRow(t.Context(), strings.ReplaceAll(`select mac, host(ip), started_at, bytes_down, bytes_up
		from {schema}.sessions`, "{schema}", db.Namespace.Schema("telemetry"))).
		Scan(&mac, &ip, &started, &down, &up); err != nil {
		t.Fatal(err)
	}
	if mac != "AA:BB:CC:00:11:22" || ip != "100.64.0.9" || !started.Equal(noon.Add(-605*time.Second)) ||
		down != 1<<32+9 || up != 7 {
		t.Error(mac, ip, started, down, up)
	}
}
