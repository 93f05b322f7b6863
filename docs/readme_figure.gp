# The picture of README.md from docs/readme_figure.csv (docs/readme_figure.py makes that):
#   gnuplot docs/readme_figure.gp
set terminal pngcairo size 1200,450 font "Liberation Sans,15" background "white"
set output "docs/readme_figure.png"
set datafile separator ","

runs = "ticopd-top-2-percent ticopd-8-bits beer-8-bits choco-sgd-8-bits dgd-32-bits"
titles = "'TiCoPD, top 2 %' 'TiCoPD, 8 bits' 'BEER, 8 bits' 'CHOCO-SGD, 8 bits' 'DGD, 32 bits'"
file(i) = "< grep '^" . word(runs, i) . ",' docs/readme_figure.csv"

# Colours that stay apart for colour-blind readers (Okabe, Ito).
array colour[5] = ["#d55e00", "#e69f00", "#0072b2", "#009e73", "#777777"]
do for [i = 1:5] { set linetype i lc rgb colour[i] lw 3 }

set border 3 lc rgb "#444444"
set tics nomirror
set grid ytics lc rgb "#dddddd"
set logscale x
set xrange [1:5000]
set format x "%g"
set xlabel "megabits sent by each agent"
set style fill transparent solid 0.18 noborder

set multiplot layout 1,2 margins 0.06,0.985,0.16,0.89 spacing 0.075

set title "Training loss of the worst agent"
set logscale y
set yrange [0.02:10]
set ytics (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
set key at graph 0.005,0.02 left bottom Left reverse samplen 2 spacing 1.1
plot for [i = 1:5] file(i) using 3:5:6 with filledcurves lc rgb colour[i] notitle, \
     for [i = 1:5] file(i) using 3:4 with lines lt i title word(titles, i)

set title "Test accuracy of the worst agent"
unset logscale y
set yrange [0:1]
set ytics ("0" 0, "25 %%" 0.25, "50 %%" 0.5, "75 %%" 0.75, "95 %%" 0.95)
unset key
plot for [i = 1:5] file(i) using 3:8:9 with filledcurves lc rgb colour[i] notitle, \
     for [i = 1:5] file(i) using 3:7 with lines lt i
unset multiplot
