package cpeapi

import (
	"context"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// Firmware serves files of firmware (docs/rules/cpe.md#firmware). Cases, Rows and Users are required.
type Firmware struct {
	Cases cpecases.Firmware
	Rows  cpeviews.FirmwareQuery
	Users userNames
	// Server says that there is a CPE server. Without one nothing is uploaded.
	Server bool
}

// userNames gives the names of some users; one that is no member of the organization is left out.
type userNames func(ctx context.Context, org id.Organization, users []id.User) (map[id.User]string, error)

// firmwareBody bounds the body of an upload: the largest file in base64, and what describes it.
var firmwareBody = int64(base64.StdEncoding.EncodedLen(commands.MaxCpeFirmware)) + 4<<10

// Routes lists the endpoints.
func (a Firmware) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: http.MethodPost, Path: "/cpe/firmware/upload", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Request: cpeFirmwareUpload{}, Response: cpeFirmwareFile{},
			Status: http.StatusCreated, BodyLimit: firmwareBody, Summary: "Put a file of firmware on the CPE server",
			Codes: []string{
				"cpe_firmware_exists", "cpe_firmware_limit_reached", "cpe_server_not_set_up", "cpe_server_unavailable",
			},
			Handle: a.upload,
		},
		{
			Method: http.MethodDelete, Path: "/cpe/firmware/:id", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Status: http.StatusNoContent,
			Summary: "Take a file of firmware from the CPE server", Codes: []string{"cpe_firmware_in_use"},
			Handle: a.remove,
		},
		{
			Method: http.MethodGet, Path: "/cpe/firmware", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessSupport, Row: cpeFirmwareFile{}, Summary: "List files of firmware, the latest first",
			Handle: a.list,
		},
	}
}

// cpeFirmwareUpload is a file with its bytes.
type cpeFirmwareUpload struct {
	Filename     string `json:"filename" doc:"1 to 100 letters, digits or . _ -"`
	OUI          string `json:"oui" doc:"of the devices that it is for"`
	ProductClass string `json:"productClass" doc:"of the devices that it is for; may be empty"`
	Version      string `json:"version" doc:"as a device that runs it tells"`
	Data         []byte `json:"data" doc:"at most 64 MiB before base64"`
}

// cpeFirmwareState is how far a file has come.
type cpeFirmwareState string

// Texts implements httpapi.Enumerated.
func (cpeFirmwareState) Texts() []string { return cpeviews.FirmwareStates() }

// cpeFirmwareFile is a file of firmware, without its bytes.
type cpeFirmwareFile struct {
	ID           id.CPEFirmware    `json:"id"`
	Filename     string            `json:"filename"`
	OUI          string            `json:"oui"`
	ProductClass string            `json:"productClass"`
	Version      string            `json:"version"`
	Size         int64             `json:"size" doc:"in bytes"`
	SHA256       string            `json:"sha256" doc:"in hexadecimal digits"`
	State        cpeFirmwareState  `json:"state" doc:"one that stays uploading was lost: upload it again, or delete it"`
	UploadedAt   time.Time         `json:"uploadedAt"`
	UploadedBy   *httpapi.StaffRef `json:"uploadedBy" doc:"null: no member of the staff"`
}

// showFirmware leaves out the name at the CPE server.
func showFirmware(r cpeviews.FirmwareRow, names map[id.User]string) cpeFirmwareFile {
	return cpeFirmwareFile{
		ID: r.ID, Filename: r.Filename, OUI: r.OUI, ProductClass: r.ProductClass, Version: r.Version, Size: r.Bytes,
		SHA256: r.SHA256, State: cpeFirmwareState(r.State), UploadedAt: r.StoredAt,
		UploadedBy: staffRef(r.ActorKind, r.ActorID, names),
	}
}

// staffRef names who asked for something; nil for a program.
func staffRef(kind, actor string, names map[id.User]string) *httpapi.StaffRef {
	user := userOf(kind, actor)
	if user.IsZero() {
		return nil
	}
	return &httpapi.StaffRef{ID: user, Name: null.Of(names[user])}
}

// upload puts a file on the CPE server.
func (a Firmware) upload(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[cpeFirmwareUpload](c)
	if err != nil {
		return err
	}
	if !a.Server {
		return errNoServer()
	}
	file, done, err := a.Cases.Upload(ctx, c.Asked(), cpecases.FirmwareUpload{
		Filename: in.Filename, OUI: in.OUI, ProductClass: in.ProductClass, Version: in.Version, Content: in.Data,
	})
	if err != nil {
		return err
	}
	var names map[id.User]string // set when the row is read
	one := httpapi.One[id.CPEFirmware, cpeviews.FirmwareRow, cpeFirmwareFile]{
		Model: cpeviews.FirmwareName, Missing: commands.ErrNoCpeFirmware,
		Show: func(r cpeviews.FirmwareRow) cpeFirmwareFile { return showFirmware(r, names) },
		Read: func(
			ctx context.Context, org id.Organization, file id.CPEFirmware,
		) (*cpeviews.FirmwareRow, error) {
			row, err := a.Rows.Get(ctx, org, file)
			if err != nil || row == nil {
				return nil, err
			}
			names, err = a.Users(ctx, org, []id.User{userOf(row.ActorKind, row.ActorID)})
			return row, err
		},
	}
	return httpapi.SendOne(ctx, c, http.StatusCreated, one, file, done)
}

// remove answers once the file is known as taken back; the CPE server follows.
func (a Firmware) remove(ctx context.Context, c *httpapi.Call) error {
	file, err := httpapi.PathID[id.CPEFirmware](c, "id", commands.ErrNoCpeFirmware)
	if err != nil {
		return err
	}
	done, err := a.Cases.Remove(ctx, c.Asked(), file)
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, cpeviews.FirmwareName, done.Position); err != nil {
		return err
	}
	return c.NoContent()
}

// list answers with a page of the organization's files.
func (a Firmware) list(ctx context.Context, c *httpapi.Call) error {
	var names map[id.User]string // set when the page is read
	show := func(r cpeviews.FirmwareRow) cpeFirmwareFile { return showFirmware(r, names) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after cpeviews.FirmwareKey, max int,
	) ([]cpeviews.FirmwareRow, error) {
		rows, err := a.Rows.List(ctx, c.Org.ID, after, max)
		if err != nil {
			return nil, err
		}
		users := make([]id.User, len(rows))
		for i, r := range rows {
			users[i] = userOf(r.ActorKind, r.ActorID)
		}
		names, err = a.Users(ctx, c.Org.ID, users)
		return rows, err
	})
}
