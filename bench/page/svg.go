package page

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// fonts have the widths that charts are laid out with.
const fonts = `'Liberation Sans',Arial,Helvetica,system-ui,sans-serif`

// svg returns what is drawn as an element of HTML: without a prolog, without
// identifiers, which would clash with those of other charts, in the colours of
// the page around it and at most as wide as that.
func svg(width, height vg.Length, alt string, drawing func(draw.Canvas)) (string, error) {
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, height))
	drawing(draw.New(canvas))
	var buf bytes.Buffer
	if _, err := canvas.WriteTo(&buf); err != nil {
		return "", err
	}
	_, drawn, found := strings.Cut(buf.String(), "<g ")
	if !found {
		return "", fmt.Errorf("no group in an SVG of %d bytes", buf.Len())
	}
	drawn = styleAttribute.ReplaceAllStringFunc(drawn, restyle)
	return fmt.Sprintf(`<svg viewBox="0 0 %g %g" role="img" aria-label="%s" fill="currentColor" font-family="%s"><g %s`,
		width.Points(), height.Points(), html.EscapeString(alt), fonts, drawn), nil
}

// No text can look like it: quotes in text are escaped.
var styleAttribute = regexp.MustCompile(`\s+style="([^"]*)"`)

var shadeReferences = func() *strings.Replacer {
	pairs := []string{"#000000", "currentColor"}
	for _, s := range shades {
		pairs = append(pairs, strings.ToUpper(s.light), s.reference())
	}
	return strings.NewReplacer(pairs...)
}()

// restyle leaves out of a style what every element has, and makes its colours
// those of the page.
func restyle(attribute string) string {
	_, attribute, _ = strings.Cut(attribute, `"`)
	var kept []string
	for declaration := range strings.SplitSeq(strings.TrimSuffix(attribute, `"`), ";") {
		switch name, value, _ := strings.Cut(declaration, ":"); {
		case name == "font-family", name == "font-variant", value == "normal":
		default:
			kept = append(kept, shadeReferences.Replace(declaration))
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return ` style="` + strings.Join(kept, ";") + `"`
}
