package browser

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
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
