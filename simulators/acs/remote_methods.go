package acs

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// do carries out a method of the server and writes the answer.
func (t *talk) do(method *node) []byte {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	b := t.r.d.box
	switch method.XMLName.Local {
	case "GetRPCMethods":
		list := []string{
			"GetRPCMethods", "GetParameterNames", "GetParameterValues", "SetParameterValues", "AddObject",
			"DeleteObject", "Reboot", "FactoryReset", "Download",
		}
		return fmt.Appendf(nil, `<cwmp:GetRPCMethodsResponse><MethodList soap-enc:arrayType="xsd:string[%d]">`+
			`<string>%s</string></MethodList></cwmp:GetRPCMethodsResponse>`, len(list),
			strings.Join(list, "</string><string>"))
	case "GetParameterNames":
		return t.names(b, method)
	case "GetParameterValues":
		return t.values(b, method)
	case "SetParameterValues":
		return t.set(b, method)
	case "AddObject":
		return t.addObject(b, strings.TrimSuffix(method.text("ObjectName"), "."))
	case "DeleteObject":
		for _, p := range b.below(strings.TrimSuffix(method.text("ObjectName"), ".")) {
			delete(b.params, p)
		}
		return []byte(`<cwmp:DeleteObjectResponse><Status>0</Status></cwmp:DeleteObjectResponse>`)
	case "Reboot":
		b.booted = t.r.now()
		t.next = append(t.next, []string{boot, "M Reboot"})
		return []byte(`<cwmp:RebootResponse></cwmp:RebootResponse>`)
	case "FactoryReset":
		t.reset()
		return []byte(`<cwmp:FactoryResetResponse></cwmp:FactoryResetResponse>`)
	case "Download":
		t.download = method
		return []byte(`<cwmp:DownloadResponse><Status>1</Status><StartTime>0001-01-01T00:00:00Z</StartTime>` +
			`<CompleteTime>0001-01-01T00:00:00Z</CompleteTime></cwmp:DownloadResponse>`)
	}
	return soapFault("9000", "")
}

// reset makes the device as its maker did, but for the address of connection requests; its server is the same.
func (t *talk) reset() {
	d := t.r.d
	path := d.cfg.Root + ".ManagementServer.ConnectionRequestURL"
	address := d.box.params[path].value
	source := &Simulator{cfg: Config{Seed: t.r.cfg.Seed}}
	d.box = newBox(d.cfg, source.random(d.id), t.r.now())
	d.box.params[path].value = address
	t.next = append(t.next, []string{bootstrap, boot})
}

// soapFault is a device's no.
func soapFault(code, parameters string) []byte {
	return fmt.Appendf(nil, `<soap-env:Fault><faultcode>Client</faultcode><faultstring>CWMP fault</faultstring>`+
		`<detail><cwmp:Fault><FaultCode>%s</FaultCode><FaultString>%s</FaultString>%s</cwmp:Fault></detail>`+
		`</soap-env:Fault>`, code, cpeFaults[code], parameters)
}

// names answers GetParameterNames.
func (t *talk) names(b *box, method *node) []byte {
	next, _ := strconv.ParseBool(method.text("NextLevel"))
	list := b.names(method.text("ParameterPath"), next)
	if len(list) == 0 {
		return soapFault("9005", "")
	}
	var out strings.Builder
	for _, n := range list {
		writable := 0
		if p := b.params[n]; p != nil && p.writable {
			writable = 1
		}
		fmt.Fprintf(&out, "<ParameterInfoStruct><Name>%s</Name><Writable>%d</Writable></ParameterInfoStruct>",
			escaped(n), writable)
	}
	return fmt.Appendf(nil, `<cwmp:GetParameterNamesResponse><ParameterList `+
		`soap-enc:arrayType="cwmp:ParameterInfoStruct[%d]">%s</ParameterList></cwmp:GetParameterNamesResponse>`,
		len(list), out.String())
}

// values answers GetParameterValues, also for partial paths.
func (t *talk) values(b *box, method *node) []byte {
	var out strings.Builder
	n, now := 0, t.r.now()
	for _, one := range method.child("ParameterNames").Nodes {
		found := b.below(strings.TrimSuffix(strings.TrimSpace(one.Text), "."))
		if len(found) == 0 {
			return soapFault("9005", "")
		}
		for _, p := range found {
			out.WriteString(valueStruct(b, p, now))
			n++
		}
	}
	return fmt.Appendf(nil, `<cwmp:GetParameterValuesResponse><ParameterList `+
		`soap-enc:arrayType="cwmp:ParameterValueStruct[%d]">%s</ParameterList></cwmp:GetParameterValuesResponse>`,
		n, out.String())
}

// set answers SetParameterValues: all values are taken, or none.
func (t *talk) set(b *box, method *node) []byte {
	values := map[string]any{}
	refused := ""
	for _, one := range method.child("ParameterList").Nodes {
		name := one.text("Name")
		code := ""
		p := b.params[name]
		switch {
		case t.r.refuse[name] != "":
			code = t.r.refuse[name]
		case p == nil:
			code = "9005"
		case !p.writable:
			code = "9008"
		default:
			value, ok := coerce(one.child("Value").Text, p.kind)
			if p.kind == typeTime {
				var err error
				value, err = time.Parse(time.RFC3339Nano, one.text("Value"))
				ok = err == nil
			}
			if !ok {
				code = "9007"
			}
			values[name] = value
		}
		if code != "" {
			refused += fmt.Sprintf("<SetParameterValuesFault><ParameterName>%s</ParameterName>"+
				"<FaultCode>%s</FaultCode><FaultString>%s</FaultString></SetParameterValuesFault>",
				escaped(name), code, cpeFaults[code])
		}
	}
	if refused != "" {
		return soapFault("9003", refused)
	}
	for path, value := range values {
		b.write(path, value)
	}
	return []byte(`<cwmp:SetParameterValuesResponse><Status>0</Status></cwmp:SetParameterValuesResponse>`)
}

// addObject answers AddObject with the number of an instance like the last one.
func (t *talk) addObject(b *box, object string) []byte {
	made := b.addInstance(object)
	if made == 0 {
		return soapFault("9003", "")
	}
	return fmt.Appendf(nil, `<cwmp:AddObjectResponse><InstanceNumber>%d</InstanceNumber><Status>0</Status>`+
		`</cwmp:AddObjectResponse>`, made)
}
