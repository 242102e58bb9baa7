package browser

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"testing"
)

// fewColours returns a picture with 256 of its colours, which makes that of a page a third as large.
func fewColours(picture []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	box := full.Bounds()
	counts := make(map[color.RGBA]int)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			counts[color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)]++
		}
	}
	colours := make([]color.RGBA, 0, len(counts))
	for c := range counts {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	palette := choose(colours)
	few := image.NewPaletted(box, palette)
	draw.Draw(few, box, full, box.Min, draw.Src)
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&small, few)
	return small.Bytes(), err
}

// choose takes the most frequent colours, but none that is close to another: a thin line keeps its own.
func choose(colours []color.RGBA) color.Palette {
	palette := make(color.Palette, 0, 256)
	for _, apart := range []int{24, 12, 6, 0} {
		for _, c := range colours {
			if len(palette) < 256 && !slices.ContainsFunc(palette, func(p color.Color) bool { return near(p, c, apart) }) {
				palette = append(palette, c)
			}
		}
	}
	return palette
}

func near(p color.Color, c color.RGBA, apart int) bool {
	o := p.(color.RGBA)
	off := func(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
	return off(o.R, c.R)+off(o.G, c.G)+off(o.B, c.B) <= apart
}

func TestFewColours(t *testing.T) {
	full := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 * 64 {
		copy(full.Pix[4*i:], []byte{byte(i * i / 7), byte(i * 31), byte(i / 3), 255})
	}
	var before bytes.Buffer
	if err := png.Encode(&before, full); err != nil {
		t.Fatal(err)
	}
	after, err := fewColours(before.Bytes())
	if err != nil || len(after) >= before.Len() {
		t.Errorf("%d bytes of %d, %v", len(after), before.Len(), err)
	}
	if few, err := png.Decode(bytes.NewReader(after)); err != nil || few.Bounds() != full.Bounds() {
		t.Errorf("%v, %v", few, err)
	}
}
