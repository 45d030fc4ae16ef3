package cpecases_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// shelf is a CPE server's files.
type shelf struct {
	*coretest.Kit
	names  []string
	during func() // what happens while a file is on its way
	cases  cpecases.Firmware
}

// newShelf has a server without a file.
func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{Kit: coretest.New(t, clock.System()), during: func() {}}
	bus.Register(s.Bus, cpe.FirmwareFiles())
	s.cases = cpecases.Firmware{
		Bus: s.Bus, Ready: func() error { return nil }, Logger: storetest.Quiet(),
		Store: func(_ context.Context, c commands.RecordCpeFirmware, _ []byte) error {
			s.during()
			if !slices.Contains(s.names, c.StoredAs()) {
				s.names = append(s.names, c.StoredAs())
			}
			return nil
		},
		Delete: func(_ context.Context, name string) error {
			s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == name })
			return nil
		},
	}
	return s
}

// box20 is a file of firmware.
var box20 = cpecases.FirmwareUpload{Filename: "box.bin", OUI: "00aabb", Version: "2.0", Content: []byte("image")}

// takeBack removes the file, and has it deleted at the server.
func (s *shelf) takeBack(t *testing.T, org id.Organization) {
	t.Helper()
	file := commands.CpeFirmwareOf(org, box20.Filename)
	s.Run(t, coretest.Operator(org), commands.RemoveCpeFirmware{FirmwareID: file})
	s.names = nil
	s.Run(t, coretest.Operator(org), commands.SettleCpeFirmware{FirmwareID: file})
}

// TestUpload_AFileThatIsTakenBackOnItsWayDoesNotStay: nobody would know of it, and it would count for nobody.
func TestUpload_AFileThatIsTakenBackOnItsWayDoesNotStay(t *testing.T) {
	t.Parallel()
	s, acme := newShelf(t), id.New[id.Organization]()
	s.during = func() { s.takeBack(t, acme) }
	_, _, err := s.cases.Upload(t.Context(), coretest.Ask(acme), box20)
	if failure.CodeOf(err) != "cpe_firmware_not_found" || len(s.names) != 0 {
		t.Errorf("%v, the server has %v", err, s.names)
	}
}

// TestUpload_ARepeatedRequestPutsNothingBack: its first time was before the removal.
func TestUpload_ARepeatedRequestPutsNothingBack(t *testing.T) {
	t.Parallel()
	s, acme := newShelf(t), id.New[id.Organization]()
	asked := coretest.Ask(acme)
	for range 2 {
		if _, _, err := s.cases.Upload(t.Context(), asked, box20); err != nil || len(s.names) != 1 {
			t.Fatalf("%v, the server has %v", err, s.names)
		}
	}
	s.takeBack(t, acme)
	_, _, err := s.cases.Upload(t.Context(), asked, box20)
	if failure.CodeOf(err) != "cpe_firmware_not_found" || len(s.names) != 0 {
		t.Errorf("%v, the server has %v", err, s.names)
	}
	if _, _, err := s.cases.Upload(t.Context(), coretest.Ask(acme), box20); err != nil || len(s.names) != 1 {
		t.Errorf("a new request: %v, the server has %v", err, s.names)
	}
}

// TestUpload_WhileTheServerIsAwayNothingIsKept: no place is taken.
func TestUpload_WhileTheServerIsAwayNothingIsKept(t *testing.T) {
	t.Parallel()
	s, acme := newShelf(t), id.New[id.Organization]()
	away := errors.New("away")
	s.cases.Ready = func() error { return away }
	if _, _, err := s.cases.Upload(t.Context(), coretest.Ask(acme), box20); !errors.Is(err, away) {
		t.Error(err)
	}
	_, _, err := bus.LoadOwned[cpe.Firmware](t.Context(), s.Bus, acme, commands.CpeFirmwareOf(acme, "box.bin"))
	if failure.CodeOf(err) != "cpe_firmware_not_found" {
		t.Errorf("kept: %v", err)
	}
}
