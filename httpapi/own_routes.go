package httpapi

import (
	"context"
	"net/http"
)

// indexResponse names the service that answers here. A browser is led to the dashboard instead.
type indexResponse struct {
	Service      string `json:"service"`
	Organization string `json:"organization,omitempty"`
	App          string `json:"app" doc:"the dashboard"`
	Portal       string `json:"portal" doc:"the pages of customers"`
	Docs         string `json:"docs" doc:"this API for people"`
	OpenAPI      string `json:"openapi"`
	Health       string `json:"health"`
}

// ownRoutes are the routes that need no area.
func (s *Server) ownRoutes() []Route {
	return []Route{
		{
			Method: http.MethodGet, Path: "/", Hosts: OnBoth, Access: AccessPublic, Summary: "What this is",
			Response: indexResponse{}, InMemory: true, Handle: s.index,
		},
		{
			Method: http.MethodGet, Path: "/docs", Hosts: OnBoth, Access: AccessPublic, Produces: "text/html",
			Summary: "This API for people", Query: []Param{{Name: "q", Type: "string", Doc: "words to look for"}},
			InMemory: true, Handle: s.sendDocs,
		},
		{
			Method: http.MethodGet, Path: "/docs/errors", Hosts: OnBoth, Access: AccessPublic, Produces: "text/html",
			Summary: "All failure codes with their texts", InMemory: true, Handle: s.sendErrors,
		},
		{
			Method: http.MethodGet, Path: "/openapi.json", Hosts: OnEvery, Access: AccessPublic,
			Summary: "This document", Produces: "application/json", InMemory: true, Handle: s.sendOpenAPI,
		},
	}
}

// index answers with the service, the host's organization and the addresses of what else is here. A browser, which
// asks for a page, is led to the dashboard.
func (s *Server) index(_ context.Context, c *Call) error {
	c.Writer.Header().Set("Vary", "Accept")
	if c.wantsPage() {
		c.Writer.Header().Set("Location", "/app/")
		c.Writer.WriteHeader(http.StatusFound)
		return nil
	}
	return c.Send(http.StatusOK, indexResponse{
		Service: "Lastmile", Organization: c.Org.Name,
		App: "/app/", Portal: "/portal/", Docs: "/docs", OpenAPI: "/openapi.json", Health: "/healthz",
	})
}

// sendOpenAPI answers with the document of this kind of host.
func (s *Server) sendOpenAPI(_ context.Context, c *Call) error {
	text, err := s.OpenAPI(c.hostKind)
	if err != nil {
		return err
	}
	c.SendBytes(http.StatusOK, contentJSON, text)
	return nil
}
