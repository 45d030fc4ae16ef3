package main

import (
	"bytes"
	"context"
	"net/http"
)

// demoFirmware is a file for the devices of the older model.
var demoFirmware = struct{ name, version, oui, class, model string }{
	"hg8-1.4.2.bin", "1.4.2", "00D09E", "HG8", "HG-8",
}

// demoFile has its bytes; the simulator looks at none of them.
var demoFile = bytes.Repeat([]byte("firmware"), 4096)

// makeTests has a device measure its line. What it has measured is there a moment later; nobody waits for it.
func (s *demoSeed) makeTests(ctx context.Context) error {
	page, err := s.admin.call(ctx, http.MethodGet, "/cpe/devices?q="+demoBoxes[0].serial, "", nil)
	if err != nil {
		return err
	}
	for _, box := range page.list("data") {
		for test, body := range map[string]map[string]string{
			"speed-test": {}, "upload-test": {}, "ping": {"host": "example.com"},
		} {
			_, err := s.admin.call(ctx, http.MethodPost, "/cpe/devices/"+box.text("id")+"/"+test, "demo-"+test, body)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// makeFirmware uploads a file and deploys it to all devices of the older model: one takes it, one refuses, some have it
// already, and the one without power keeps the deployment waiting. Its outcomes come while the demo is looked at.
func (s *demoSeed) makeFirmware(ctx context.Context) error {
	f := demoFirmware
	_, err := s.admin.call(ctx, http.MethodPost, "/cpe/firmware/upload", "demo-firmware", map[string]any{
		"filename": f.name, "version": f.version, "oui": f.oui, "productClass": f.class, "data": demoFile,
	})
	if err != nil {
		return err
	}
	older := 0
	for n, box := range demoBoxes {
		if olderBox(n) && !box.pending {
			older++
		}
	}
	err = until(ctx, "the models of the devices", func(ctx context.Context) (bool, error) {
		page, err := s.admin.call(ctx, http.MethodGet, "/cpe/devices?model="+f.model, "", nil)
		return len(page.list("data")) == older, err
	})
	if err != nil {
		return err
	}
	_, err = s.admin.call(ctx, http.MethodPost, "/cpe/firmware/deploy", "demo-deployment", map[string]any{
		"filename": f.name, "model": f.model,
	})
	return err
}
