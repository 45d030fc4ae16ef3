package commands_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// A port on which a router has something else would take that away from its operator.
func TestDevice_APIPortIsNoPortOfAnotherService(t *testing.T) {
	t.Parallel()
	for port, free := range map[int]bool{
		80: true, 443: true, 8080: true, 8728: true, 8729: true, 8291: false, 22: false, 23: false, 21: false,
		53: false, 2000: false, 1723: false,
	} {
		err := commands.CorrectDevice{DeviceID: id.New[id.Device](), Details: events.DeviceDetails{
			Name: "tower", IPAddress: "203.0.113.20", CoAPort: 3799, APIPort: port,
		}}.Validate()
		if free && err != nil || !free &&
			(failure.KindOf(err) != failure.Invalid || !strings.Contains(err.Error(), "apiPort")) {
			t.Errorf("port %d: %v", port, err)
		}
	}
}
