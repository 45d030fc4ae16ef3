package cpeapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// Uploads takes the files of upload tests: it counts their bytes and keeps none (docs/rules/cpe.md#tests).
type Uploads struct{ Cases cpecases.Uploads }

// uploadPatience is how long a CPE may send: 20 MB at 0.5 Mbit/s.
const uploadPatience = 5 * time.Minute

// Routes lists the address. It is the same on every host, since a CPE may know us by any name.
func (a Uploads) Routes() []httpapi.Route {
	return []httpapi.Route{{
		Method: http.MethodPut, Path: cpecases.UploadPath + ":token", Hosts: httpapi.OnEvery,
		Access: httpapi.AccessPublic, Summary: "Where a CPE sends the file of an upload test",
		BodyLimit: cpecases.MaxUpload, OwnBody: true, IgnoresIdempotency: true, Response: cpeUploaded{},
		Handle: a.upload,
	}}
}

// cpeUploaded tells a CPE how many bytes have come.
type cpeUploaded struct {
	Bytes int64 `json:"bytes"`
}

// upload counts the bytes of a body. One that breaks off counts nothing: the device says itself that its test failed.
func (a Uploads) upload(ctx context.Context, c *httpapi.Call) error {
	if err := c.CountUpload(ctx); err != nil {
		return err
	}
	operation, err := a.Cases.Open(ctx, c.Param("token"))
	if err != nil {
		return err
	}
	if c.Request.ContentLength > cpecases.MaxUpload {
		return httpapi.BodyTooLarge(cpecases.MaxUpload)
	}
	until := clock.Steady(clock.System()).Now().Add(uploadPatience) // the network compares it with the machine's time
	control := http.NewResponseController(c.Writer)
	if err := errors.Join(control.SetReadDeadline(until), control.SetWriteDeadline(until)); err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, http.MaxBytesReader(c.Writer, c.Request.Body, cpecases.MaxUpload))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return httpapi.BodyTooLarge(cpecases.MaxUpload)
	case err != nil:
		return failure.NewMalformed("body_unreadable", "The body could not be read. Please send it again.")
	}
	if err := a.Cases.Count(ctx, operation, n); err != nil {
		return err
	}
	return c.Send(http.StatusOK, cpeUploaded{Bytes: n})
}
