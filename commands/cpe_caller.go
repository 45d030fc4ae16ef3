package commands

import (
	"net/netip"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// CpeCaller is a CPE that calls.
type CpeCaller struct {
	CpeID    id.CPE
	Identity events.CpeIdentity // in normal form
	Address  netip.Addr         // at which it takes connection requests; the zero value = it tells none
}

// NewCpeCaller reads what a CPE tells of itself. An address that is not one of a network is left out.
func NewCpeCaller(identity events.CpeIdentity, address string) CpeCaller {
	c := CpeCaller{Identity: NormalCpeIdentity(identity)}
	c.CpeID = CpeID(c.Identity)
	if at, err := netip.ParseAddr(strings.Trim(address, "[]")); err == nil {
		if at = at.Unmap().WithZone(""); at.IsGlobalUnicast() { // private ones are the usual case
			c.Address = at
		}
	}
	return c
}

// CpeSerialUnusable is why a CPE cannot be claimed whose serial number many devices have.
const CpeSerialUnusable = "cpe_serial_unusable"

// ErrCpeSerialUnusable is the failure of a CPE that cannot be told from others.
func ErrCpeSerialUnusable() error {
	return failure.NewConflict("cpe_serial_unusable",
		"Many devices have this serial number. The maker has to give the device one of its own.")
}

// dummySerials are serial numbers that makers leave in devices to which they give none, without the signs between.
var dummySerials = map[string]bool{
	"NONE": true, "NULL": true, "UNKNOWN": true, "DEFAULT": true, "SERIAL": true, "SERIALNUMBER": true, "NA": true,
	"TOBEFILLEDBYOEM": true, "NOTAVAILABLE": true, "NOTSPECIFIED": true,
}

// countedUp are the beginnings of serial numbers that only count.
var countedUp = []string{"0123456789ABCDEF", "1234567890ABCDEF", "123456789ABCDEF"}

// DummyCpeSerial reports whether a serial number is one that many devices have: it is empty, has one sign alone,
// counts up, or says that there is none.
func DummyCpeSerial(serial string) bool {
	bare := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, strings.ToUpper(serial))
	if bare == "" || dummySerials[bare] || strings.Trim(bare, bare[:1]) == "" && (len(bare) >= 4 || bare[0] == '0') {
		return true
	}
	for _, digits := range countedUp {
		if len(bare) >= 4 && strings.HasPrefix(digits, bare) {
			return true
		}
	}
	return false
}
