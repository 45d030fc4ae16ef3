package commands_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
)

// TestDummyCpeSerial_IsNoIdentity: many devices have such a number; real ones that look a little alike do not count.
func TestDummyCpeSerial_IsNoIdentity(t *testing.T) {
	t.Parallel()
	for serial, dummy := range map[string]bool{
		"": true, " ": true, "0": true, "000000000000": true, "00:00:00:00:00:00": true, "FFFFFFFF": true,
		"ffffffffffff": true, "1111": true, "123456789": true, "1234567890": true, "0123456789": true,
		"12345678": true, "123456789abc": true, "XXXXXXXXXX": true, "N/A": true, "To be filled by O.E.M.": true,
		"unknown": true, "---": true,
		"SN-1": false, "48575443ABCD0001": false, "000000000001": false, "1234567891": false, "112233445566": false,
		"7": false, "FFFFFFFE": false, "12345": true, "012345670001": false,
	} {
		if got := commands.DummyCpeSerial(serial); got != dummy {
			t.Errorf("%q: %t", serial, got)
		}
	}
}

// TestNewCpeCaller_TakesAddressesOfNetworks, and none of the device itself or of the wire.
func TestNewCpeCaller_TakesAddressesOfNetworks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.20.0.5": "10.20.0.5", "[2001:db8::1]": "2001:db8::1", "::ffff:10.20.0.5": "10.20.0.5",
		"127.0.0.1": "invalid IP", "fe80::1%eth0": "invalid IP", "0.0.0.0": "invalid IP", "host": "invalid IP",
		"": "invalid IP",
	} {
		got := commands.NewCpeCaller(events.CpeIdentity{SerialNumber: " S1 ", OUI: "00aabb"}, text)
		if got.Address.String() != want || got.Identity.SerialNumber != "S1" || got.Identity.OUI != "00AABB" {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
