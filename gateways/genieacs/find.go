package genieacs

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrAmbiguous says that several devices have one identity, and none of them writes it in normal form. Whoever only
// asks whether the device is there may take it for ErrUnknownDevice.
var ErrAmbiguous = fmt.Errorf("the CPE server has several devices of this identity: %w", ErrUnknownDevice)

// Find looks for a device by its identity in normal form: without space around it, and the OUI in capitals. It asks for
// the id first, by which the server finds a device at once; only one that writes its identity otherwise is looked for
// by its serial number. Fails: ErrUnknownDevice, ErrAmbiguous.
func (s *Server) Find(ctx context.Context, oui, class, serial string) (Device, error) {
	device, err := s.Device(ctx, idOf(oui, class, serial))
	if !errors.Is(err, ErrUnknownDevice) && !errors.Is(err, ErrUnfit) {
		return device, err
	}
	var found []Device
	err = s.EachDevice(ctx, Listing{Serial: serial}, func(d Device) error {
		if strings.ToUpper(strings.TrimSpace(d.OUI)) == oui && strings.TrimSpace(d.ProductClass) == class {
			found = append(found, d)
		}
		return nil
	})
	switch {
	case err != nil:
		return Device{}, err
	case len(found) == 0:
		return Device{}, ErrUnknownDevice
	case len(found) > 1:
		return Device{}, ErrAmbiguous
	}
	return found[0], nil
}

// idOf builds the id that the server most likely has for an identity. It is good for a look, since a wrong one is not
// found. Source: docs/facts/genieacs.md#escaping.
func idOf(oui, class, serial string) DeviceID {
	parts := []string{idPart(oui)}
	if class != "" {
		parts = append(parts, idPart(class))
	}
	return DeviceID(strings.Join(append(parts, idPart(serial)), "-"))
}

// idPart escapes a part of an id: also the dash, which stands between parts.
func idPart(text string) string { return strings.ReplaceAll(segment(text), "-", "%2D") }

// Username is the name by which a device of an identity, in its own spelling, signs in: its id, as TR-069 wants it.
// Expressions have it as DeviceID.ID.
func Username(oui, class, serial string) string { return string(idOf(oui, class, serial)) }
