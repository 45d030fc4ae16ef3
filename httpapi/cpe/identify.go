package cpeapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// Identification serves the hook of the CPE server (docs/rules/cpe.md#identification).
type Identification struct {
	Cases cpecases.CPEs
	Key   secrets.Text // "" = the address does not exist
	// Version is that of the provisions that understand the answer.
	Version int
}

// headerInternalKey has the key by which our own installations are known.
const headerInternalKey = "X-Internal-Key"

// actorCPEServer is who acts when a CPE is seen for the first time.
const actorCPEServer = "cpe server"

// Routes lists the address. It is the same on every host, since the CPE server may know us by any name.
func (a Identification) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: http.MethodPost, Path: "/internal/cpe/identify", Hosts: httpapi.OnEvery,
			Access: httpapi.AccessInternal, Summary: "What a CPE is, asked by the CPE server", BodyLimit: hookLimit,
			Request: cpeIdentifyRequest{}, Response: cpeIdentifyResponse{}, Handle: a.identify,
		},
		{
			Method: http.MethodPost, Path: "/internal/cpe/sign-in", Hosts: httpapi.OnEvery,
			Access: httpapi.AccessInternal, BodyLimit: hookLimit,
			Summary: "The password of a CPE, or whether it is let in, asked by the CPE server",
			Request: cpeSignInRequest{}, Response: cpeSignInResponse{}, Handle: a.signIn,
		},
	}
}

// hookLimit bounds what the CPE server asks, in bytes.
const hookLimit = 8 << 10

// cpeIdentifyRequest names a CPE that says who it is.
type cpeIdentifyRequest struct {
	cpeNamed
	Address string `json:"address,omitempty" doc:"at which it takes connection requests, as it tells"`
}

// cpeNamed is the identity of a device as its maker gave it, in the words of TR-069.
type cpeNamed struct {
	SerialNumber string `json:"serialNumber"`
	OUI          string `json:"oui" doc:"of the manufacturer"`
	ProductClass string `json:"productClass,omitempty"`
}

// cpeIdentifyResponse has all that the bootstrap provision applies in the same session.
type cpeIdentifyResponse struct {
	Known            bool     `json:"known" doc:"an organization has it"`
	OrgSlug          *string  `json:"orgSlug" doc:"null: no organization has it"`
	Tags             []string `json:"tags" doc:"all that it has from now on"`
	Parameters       [][]any  `json:"parameters" doc:"each is name, value and type"`
	ProvisionVersion int      `json:"provisionVersion"`
}

// knows reports whether a key is ours. The time it takes tells neither how much of it is right nor its length.
func (a Identification) knows(key string) bool {
	given, own := sha256.Sum256([]byte(key)), sha256.Sum256([]byte(a.Key.Reveal()))
	return subtle.ConstantTimeCompare(given[:], own[:]) == 1
}

// asks refuses everybody but the CPE server. The answers have passwords, so nobody on the way keeps them.
func (a Identification) asks(c *httpapi.Call) error {
	switch {
	case a.Key.IsZero():
		return commands.ErrNotFound()
	case !a.knows(c.Request.Header.Get(headerInternalKey)):
		return usecases.ErrSignIn()
	}
	c.Writer.Header().Set("Cache-Control", "no-store")
	return nil
}

// meta lets the CPE server act, whatever host it asks: no organization has a new CPE.
func (a Identification) meta(c *httpapi.Call) commands.Meta {
	meta := c.Meta()
	meta.OrgID = id.Organization{}
	meta.Actor = events.Actor{Kind: events.ActorProcess, ID: actorCPEServer}
	return meta
}

// identify answers the hook.
func (a Identification) identify(ctx context.Context, c *httpapi.Call) error {
	if err := a.asks(c); err != nil {
		return err
	}
	in, err := httpapi.Decode[cpeIdentifyRequest](c)
	if err != nil {
		return err
	}
	told, err := a.Cases.Identify(ctx, a.meta(c), events.CpeIdentity(in.cpeNamed), in.Address)
	if err != nil {
		return err
	}
	out := cpeIdentifyResponse{
		Known: told.Known, OrgSlug: null.Of(told.OrgSlug), Tags: told.Tags,
		Parameters: make([][]any, 0, len(told.Parameters)), ProvisionVersion: a.Version,
	}
	for _, p := range told.Parameters {
		out.Parameters = append(out.Parameters, []any{p.Name, typed(p), p.Type})
	}
	return c.Send(http.StatusOK, out)
}

// cpeSignInRequest names a CPE that calls.
type cpeSignInRequest struct {
	cpeNamed
	Shown *bool `json:"shown,omitempty" doc:"whether it has shown its password; null: the password is asked for"`
}

// cpeSignInResponse has one of the two, as was asked.
type cpeSignInResponse struct {
	Password *string `json:"password" doc:"null: it has none"`
	Admitted *bool   `json:"admitted" doc:"null: the password was asked for"`
}

// signIn answers the expression that decides whether a CPE is let in.
func (a Identification) signIn(ctx context.Context, c *httpapi.Call) error {
	if err := a.asks(c); err != nil {
		return err
	}
	in, err := httpapi.Decode[cpeSignInRequest](c)
	if err != nil {
		return err
	}
	named := events.CpeIdentity(in.cpeNamed)
	if in.Shown == nil {
		password, err := a.Cases.SignInPassword(ctx, named)
		if err != nil {
			return err
		}
		return c.Send(http.StatusOK, cpeSignInResponse{Password: null.Of(password.Reveal())})
	}
	admitted, err := a.Cases.Admit(ctx, a.meta(c), named, *in.Shown)
	if err != nil {
		return err
	}
	return c.Send(http.StatusOK, cpeSignInResponse{Admitted: &admitted})
}

// typed is the value of a parameter as JSON has it.
func typed(p cpecases.Parameter) any {
	text := p.Value.Reveal()
	switch p.Type {
	case cpecases.TypeBoolean:
		return text == "true"
	case cpecases.TypeNumber:
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
	}
	return text
}
