package main

import (
	"encoding/hex"
	"testing"
	"time"

	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// uses reports what the session of a sign-in has used in all, in bytes.
func (c *cafe) uses(signedIn handset.Result, bytes uint64) {
	c.k.t.Helper()
	s := signedIn.Session
	class, err := hex.DecodeString(s.Class)
	if err != nil {
		c.k.t.Fatal(err)
	}
	c.k.report(connection{secret: "secret-of-cafe", username: s.User}, class, told{
		session: s.ID, mac: s.MAC, status: rfc2866.AcctStatusType_Value_InterimUpdate, online: time.Second, down: bytes,
	})
}

// TestVouchers_TheirCapCountsAllSessionsOfACode: two devices use a voucher up one after the other. It gives nothing any
// more, also after a restart, until the cap of the day resets; another voucher of the batch is not touched.
func TestVouchers_TheirCapCountsAllSessionsOfACode(t *testing.T) {
	t.Parallel()
	const million = 1_000_000
	k := newKit(t)
	moving := clock.NewMovable(clock.System(), 0)
	k.clock = moving
	k.start().signIn()
	c := k.openCafeOf(2, map[string]any{
		"billing": map[string]string{"mode": "prepaid", "period": "week"},
		"cap":     map[string]any{"bytes": 1000 * million, "period": "day", "then": "stop"},
	})
	c.uses(c.online("02:00:00:00:00:01", c.codes[0]), 700*million)
	c.online("02:00:00:00:00:03", c.codes[1])
	c.uses(c.online("02:00:00:00:00:02", c.codes[0]), 400*million)
	c.alone("02:00:00:00:00:03") // the session of the other voucher
	c.refused("02:00:00:00:00:02", c.codes[0], "used up")
	c.refused("02:00:00:00:00:01", c.codes[0], "used up")

	c.nas.Stop()
	k.app.Stop()
	k.start()
	c.open()
	c.refused("02:00:00:00:00:02", c.codes[0], "used up")
	c.online("02:00:00:00:00:03", c.codes[1])
	moving.Advance(24 * time.Hour)
	c.online("02:00:00:00:00:01", c.codes[0])
}
